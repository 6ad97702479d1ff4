// Package sandbox runs commands in a sandbox: the machine is read-only and its secrets
// are hidden, they can write to one directory, and there is no network.
//
// A Profile tells what a command may access. A Backend turns a command line and a profile
// into another command line, which runs the command in the sandbox. There are three
// implementations: bubblewrap and, where user namespaces are denied, landlock on Linux;
// seatbelt on macOS. Detect finds the one that works on this machine.
//
// Assume that commands are hostile. What the profile does not allow is denied: network,
// environment variables, writable directories.
package sandbox
