// Package supervise runs a command in a sandbox as a child of this process, and answers
// its renames.
//
// The process is the same binary as pawl. Go initializes packages in the order of their
// dependencies and names, and initializing all of pawl takes longer than the rest of a
// sandbox. So this package imports little, and neither strings nor golang.org/x/sys/unix,
// and does its work in init: most other packages are never initialized.
package supervise
