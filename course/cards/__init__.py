"""What a reader has at the end of each chapter: a few lines, and a picture made with what the reader wrote."""
