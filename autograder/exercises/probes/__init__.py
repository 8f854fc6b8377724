"""What can be watched of an answer, by subject. A probe never decides anything: it writes down what it sees."""
