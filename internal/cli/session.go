package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/suggest"
)

const (
	// Last names the newest session of the working directory.
	Last = "last"

	fullID    = 26 // characters of an ID
	shortID   = 6  // characters of an ID that lists show
	minShort  = 4  // characters of an ID that name a session
	maxShown  = 5  // sessions that an error lists
	pageSize  = 1000
	maxPages  = 50 // pages that are searched for a short ID
	maxPeople = 40 // characters of a session's name in an error
)

// FindSession returns the session that name names: the newest one in dir if name is [Last], otherwise
// the one whose ID is name, or begins or ends with it. IDs begin with a time, so that recent ones
// differ only at their end. Case does not matter.
func FindSession(ctx context.Context, svc pawl.Service, name, dir string) (pawl.Session, error) {
	return finder{"session", "pawl session list --all", pawl.Filter{}}.find(ctx, svc, name, dir)
}

// FindMission is like FindSession, for sessions that command a mission.
func FindMission(ctx context.Context, svc pawl.Service, name, dir string) (pawl.Session, error) {
	s, err := finder{"mission", "pawl mission list --all", pawl.Filter{Missions: true}}.find(ctx, svc, name, dir)
	if err == nil && s.Mission == "" {
		err = fault.New(pawl.ErrInvalid, "session %s is not a mission", ShortID(s.ID)).Hint("Run `pawl mission list --all` to see all missions.")
	}
	return s, err
}

// finder finds sessions by name.
type finder struct {
	what   string // session or mission
	list   string // command that lists them
	filter pawl.Filter
}

func (f finder) find(ctx context.Context, svc pawl.Service, name, dir string) (pawl.Session, error) {
	if name == Last {
		return f.newest(ctx, svc, dir)
	}
	id := strings.ToUpper(name)
	if pawl.SessionID(id).Valid() {
		s, err := svc.Get(ctx, pawl.SessionID(id))
		if errors.Is(err, pawl.ErrNotFound) {
			return s, f.notFound(name, nil)
		}
		return s, err
	}
	all, err := f.all(ctx, svc)
	if err != nil {
		return pawl.Session{}, err
	}
	var found []pawl.Session
	for _, s := range all {
		if len(id) >= minShort && (strings.HasPrefix(string(s.ID), id) || strings.HasSuffix(string(s.ID), id)) {
			found = append(found, s)
		}
	}
	switch len(found) {
	case 0:
		return pawl.Session{}, f.notFound(name, all)
	case 1:
		return found[0], nil
	}
	return pawl.Session{}, f.ambiguous(name, found)
}

func (f finder) newest(ctx context.Context, svc pawl.Service, dir string) (pawl.Session, error) {
	filter := f.filter
	filter.Dir, filter.Limit = dir, 1
	list, err := svc.List(ctx, filter)
	if err != nil {
		return pawl.Session{}, err
	}
	if len(list.Sessions) == 0 {
		return pawl.Session{}, fault.New(pawl.ErrNotFound, "no %ss in %s", f.what, dir).Hint("Run `%s` to see those of other directories.", f.list)
	}
	return list.Sessions[0], nil
}

// all returns the sessions that can be named by a part of their ID, up to maxPages pages.
func (f finder) all(ctx context.Context, svc pawl.Service) ([]pawl.Session, error) {
	filter := f.filter
	filter.Limit = pageSize
	var all []pawl.Session
	for range maxPages {
		page, err := svc.List(ctx, filter)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Sessions...)
		if page.Next == "" {
			break
		}
		filter.Cursor = page.Next
	}
	return all, nil
}

// notFound returns the error for a name, with IDs that look like it.
func (f finder) notFound(name string, all []pawl.Session) error {
	err := fault.New(pawl.ErrNotFound, "%s %.40q not found", f.what, name)
	var ids []string
	for _, s := range all {
		ids = append(ids, ShortID(s.ID))
	}
	if similar := suggest.Quoted("", name, append(ids, Last)); similar != "" {
		return err.Hint("Did you mean %s?", similar)
	}
	if len(name) < minShort {
		return err.Hint("Use at least %d characters of the id, or %q.", minShort, Last)
	}
	return err.Hint("Run `%s` to see all %ss.", f.list, f.what)
}

// ambiguous returns the error for a name that several sessions have.
func (f finder) ambiguous(name string, found []pawl.Session) error {
	short := ShortIDs(found)
	var list []string
	for _, s := range found[:min(len(found), maxShown)] {
		list = append(list, fmt.Sprintf("%s (%s)", short(s.ID), humanize.FirstLine(s.Name(), maxPeople)))
	}
	if n := len(found) - maxShown; n > 0 {
		list = append(list, fmt.Sprintf("and %d more", n))
	}
	return fault.New(pawl.ErrInvalid, "%.40q matches %s: %s", name, humanize.Plural(len(found), f.what), strings.Join(list, ", ")).Hint("Use more characters of the id.")
}

// ShortID returns the end of an ID, which is random, for texts that people read.
func ShortID(id pawl.SessionID) string { return string(id[max(0, len(id)-shortID):]) }

// ShortIDs returns a function that shortens the IDs of sessions to ends that differ.
func ShortIDs(sessions []pawl.Session) func(pawl.SessionID) string {
	n := shortID
	for ; n < fullID; n++ {
		seen := map[string]bool{}
		for _, s := range sessions {
			seen[string(s.ID[max(0, len(s.ID)-n):])] = true
		}
		if len(seen) == len(sessions) {
			break
		}
	}
	return func(id pawl.SessionID) string { return string(id[max(0, len(id)-n):]) }
}
