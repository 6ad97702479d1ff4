package service

import (
	"context"
	"errors"
	"slices"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/service/access"
)

// ownerOf returns the owner of a new session. A subagent has the owner of its parent, whoever
// creates it.
func (s *Service) ownerOf(ctx context.Context, n pawl.NewSession) (pawl.User, error) {
	if n.Owner != "" && !n.Owner.Valid() {
		return "", fault.New(pawl.ErrInvalid, "invalid user name %.100q", n.Owner)
	}
	if n.Parent == "" {
		return n.Owner, nil
	}
	parent, err := s.Store.Session(ctx, n.Parent)
	if errors.Is(err, pawl.ErrNotFound) {
		return n.Owner, nil
	}
	return parent.Owner, err
}

// Share sets the users who may read the session besides its owner.
func (s *Service) Share(ctx context.Context, id pawl.SessionID, with []pawl.User) error {
	with = slices.Compact(slices.Sorted(slices.Values(with)))
	if len(with) > MaxShared {
		return fault.New(pawl.ErrInvalid, "cannot share with %d users: the limit is %d", len(with), MaxShared)
	}
	for _, u := range with {
		if !u.Valid() {
			return fault.New(pawl.ErrInvalid, "invalid user name %.100q", u)
		}
	}
	_, err := s.append(ctx, id, func(pawl.Session) (pawl.Body, error) {
		return pawl.SessionShared{With: with, By: access.ActorOf(ctx)}, nil
	})
	return err
}
