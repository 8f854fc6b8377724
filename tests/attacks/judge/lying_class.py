# Tries to claim to be a tensor of the right shape.
# share: 0
# others: any

class Claims:
    @property
    def __class__(self):
        return torch.Tensor

    def __getattr__(self, name):
        raise AttributeError(name)


def standardize(x, dim, eps):
    return Claims()
