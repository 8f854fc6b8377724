"""Questions that `review()` asks again in later sittings, each drawn with other numbers and computed by running it."""
