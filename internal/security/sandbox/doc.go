// Package sandbox puts commands into a sandbox: they see the machine read-only and
// without its secrets, write to one directory, and reach nobody.
//
// A Profile says what a command may touch. A Sandbox turns a command line and a
// profile into another command line, which does the same inside. There are
// three kinds: bubblewrap and, where user namespaces are refused, landlock on
// Linux; seatbelt on macOS. Detect finds the one that works here.
//
// Assume that the command is hostile. What is not named is closed: no network,
// no variable of the environment, no directory to write to.
package sandbox
