// Package proc runs child processes that never outlive pawl, however it ends.
//
// Every command that pawl starts carries a mark in its environment, and its
// descendants inherit it. A keeper, a second small process of this same
// binary, waits for pawl to end, be it by SIGKILL, and then kills all that
// carry the mark, daemons included. Whoever takes over a dead process's work
// reaps its mark once more before going on, so that nothing is still running
// behind its back.
package proc
