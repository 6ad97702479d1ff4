// Package security plays published attacks on coding agents against pawl. In each
// a hostile model, a hostile repository or a hostile network does what it did
// elsewhere; a canary, a recorder or the state of files tells whether it got
// through. Every attack is played twice: with all defenses, when it must fail,
// and with the one that the row names taken out, when it must succeed: a row
// that cannot turn red shows nothing. See docs/security/corpus.md.
package security
