"""What students are shipped of the judge's knowledge: data that `make build` writes."""
