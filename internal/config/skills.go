package config

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Skills configures which skills agents may install.
type Skills struct {
	TrustedOwners []string `json:"trusted_owners,omitempty"` // whose skills need no permission: owner, which is one on GitHub, or host/owner
}

const (
	maxOwners    = 200
	defaultOwner = "github.com/" // the host of an owner without one
)

// ownerName matches an owner in plain ASCII, so that no two owners look alike.
var ownerName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// Owners returns the trusted owners as host/owner.
func (s Skills) Owners() ([]string, error) {
	if len(s.TrustedOwners) > maxOwners {
		return nil, fmt.Errorf("skills.trusted_owners has more than %d entries", maxOwners)
	}
	var owners []string
	for _, entry := range s.TrustedOwners {
		full := entry
		if !strings.Contains(entry, "/") {
			full = defaultOwner + entry
		}
		if err := checkOwner(full); err != nil {
			return nil, fmt.Errorf("skills.trusted_owners: %.100q: %w", entry, err)
		}
		owners = append(owners, full)
	}
	return owners, nil
}

func checkOwner(full string) error {
	host, owner, _ := strings.Cut(full, "/")
	if strings.HasPrefix(host, "*") || !ownerName.MatchString(owner) {
		return errors.New("use owner, or host/owner: letters, digits, hyphens, dots and underscores")
	}
	return checkHostPattern(host)
}
