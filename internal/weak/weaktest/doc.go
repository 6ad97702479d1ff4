// Package weaktest shows that tests notice when a defense is missing.
package weaktest
