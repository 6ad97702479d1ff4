// Package protect knows the names through which a file can make another program run code. File tools ask before they
// write such a name, and the sandbox protects existing ones.
package protect
