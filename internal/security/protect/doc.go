// Package protect knows the names and the parts of git repositories through which a file can make another program run
// code. File tools ask before they write such a name, the sandbox protects existing ones, and [Check] decides which
// changes of a command are applied.
package protect
