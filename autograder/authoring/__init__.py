"""What authors need: reading chapters, the answer bank, the judge, and the build."""
