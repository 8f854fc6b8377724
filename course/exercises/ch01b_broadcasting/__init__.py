"""The exercises on broadcasting: what is stretched, and along which axis a mean is taken."""
