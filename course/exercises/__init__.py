"""What students are asked: a folder for each chapter, a file for each exercise."""
