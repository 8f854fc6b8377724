# Tries to claim another shape than it has.
# share: 0

class Lies(torch.Tensor):
    @property
    def shape(self):
        return torch.Size([1])


def standardize(x, dim, eps):
    return x.as_subclass(Lies)
