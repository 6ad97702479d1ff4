// Package proc runs commands as child processes that never outlive pawl, however it
// ends.
//
// Every command that pawl starts has a mark in its environment, which its
// descendants inherit. A keeper, a second small process of the same binary, waits
// for pawl to end, even by SIGKILL, and then kills all processes with the mark,
// including daemons. A process that takes over the work of a dead pawl calls Reap
// with the dead one's mark first, so that none of its commands is still running.
package proc
