package app

// Version is the version of the program. The release build sets it with -ldflags.
var Version = "dev"
