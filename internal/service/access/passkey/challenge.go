package passkey

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"maps"
	"sync"
	"time"
)

// challengeLife is how long a person has for a ceremony.
const challengeLife = 5 * time.Minute

// purpose is what a challenge is for.
type purpose byte

const (
	creation purpose = 'c'
	signIn   purpose = 's'
)

// The parts of a challenge: the time, random bytes, and a MAC over both and its purpose.
const (
	timeSize   = 8
	randomSize = 24
)

// challenges issues challenges and checks them. It remembers only those that were used, so
// requests that start a ceremony cost no memory.
type challenges struct {
	now func() time.Time
	key [32]byte

	mu   sync.Mutex
	used map[string]time.Time // when they were used
}

func newChallenges(now func() time.Time) *challenges {
	c := &challenges{now: now, used: map[string]time.Time{}}
	rand.Read(c.key[:]) // it never fails
	return c
}

// issue returns a new challenge.
func (c *challenges) issue(p purpose, site Site, owner string) []byte {
	b := binary.BigEndian.AppendUint64(nil, uint64(c.now().Unix()))
	b = append(b, make([]byte, randomSize)...)
	rand.Read(b[timeSize:])
	return append(b, c.mac(b, p, site, owner)...)
}

// mac returns the MAC of a challenge.
func (c *challenges) mac(b []byte, p purpose, site Site, owner string) []byte {
	h := hmac.New(sha256.New, c.key[:])
	fmt.Fprintf(h, "%c%q%q%q", p, site.Host, site.Origin, owner)
	h.Write(b)
	return h.Sum(nil)
}

// check returns ErrRejected unless the challenge was issued for this, not long ago.
func (c *challenges) check(text string, p purpose, site Site, owner string) error {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) != timeSize+randomSize+sha256.Size {
		return fmt.Errorf("%w: invalid challenge", ErrRejected)
	}
	b, sum := b[:timeSize+randomSize], b[timeSize+randomSize:]
	if !hmac.Equal(sum, c.mac(b, p, site, owner)) {
		return fmt.Errorf("%w: foreign challenge", ErrRejected)
	}
	issued := time.Unix(int64(binary.BigEndian.Uint64(b)), 0) //nolint:gosec // the MAC proves that it was a time
	if age := c.now().Sub(issued); age > challengeLife {
		return fmt.Errorf("%w: it took too long", ErrRejected)
	}
	return nil
}

// use marks a challenge as used. Only the first call succeeds.
func (c *challenges) use(text string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	maps.DeleteFunc(c.used, func(_ string, at time.Time) bool { return now.Sub(at) > challengeLife })
	if _, ok := c.used[text]; ok {
		return fmt.Errorf("%w: used challenge", ErrRejected)
	}
	c.used[text] = now
	return nil
}
