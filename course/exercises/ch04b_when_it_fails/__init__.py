"""The exercises of chapter 4b: what losses take, one batch learned by heart, and eight broken loops."""
