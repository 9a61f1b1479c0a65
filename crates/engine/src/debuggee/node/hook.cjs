// Loaded by every Node.js process of a program that is debugged, before its own code.
