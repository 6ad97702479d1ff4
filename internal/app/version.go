package app

// Version is set by the release build.
var Version = "dev"
