package httpapi

import (
	"context"
	"errors"
	"slices"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/transcript"
)

// maxAsking limits the sessions whose asks are listed.
const maxAsking = 1000

// maxDepth limits the search for the session that started a subagent.
const maxDepth = 20

// listAsks returns the open asks of all sessions, or of a session and its subagents.
func listAsks(_ *response, r *request) (any, error) {
	session := pawl.SessionID(r.query.Get("session"))
	rows, err := r.service.List(r.Context(), pawl.Filter{Asking: true, Limit: maxAsking})
	if err != nil {
		return nil, err
	}
	list := api.Asks{Asks: []api.OpenAsk{}}
	for _, row := range rows.Sessions {
		family, err := ancestors(r.Context(), r.service, row)
		if err != nil {
			return nil, err
		}
		if session != "" && !slices.ContainsFunc(family, func(s pawl.Session) bool { return s.ID == session }) {
			continue
		}
		asks, err := openAsks(r.Context(), r.service, row, family)
		if err != nil {
			return nil, err
		}
		list.Asks = append(list.Asks, asks...)
	}
	return list, nil
}

// ancestors returns a session and those that started it, the outermost last. It ends at a session that the
// caller may not read.
func ancestors(ctx context.Context, svc pawl.Service, row pawl.Session) ([]pawl.Session, error) {
	family := []pawl.Session{row}
	for range maxDepth {
		if row.Parent == "" {
			break
		}
		parent, err := svc.Get(ctx, row.Parent)
		if errors.Is(err, pawl.ErrNotFound) {
			break
		}
		if err != nil {
			return nil, err
		}
		family, row = append(family, parent), parent
	}
	return family, nil
}

// openAsks returns the asks of a session without an answer. All of them are in the newest turn.
func openAsks(ctx context.Context, svc pawl.Service, row pawl.Session, family []pawl.Session) ([]api.OpenAsk, error) {
	t, err := fold(ctx, svc, row, max(0, row.TurnAt-1))
	if err != nil {
		if errors.Is(err, pawl.ErrNotFound) {
			return nil, nil // deleted meanwhile
		}
		return nil, err
	}
	root := family[len(family)-1]
	var list []api.OpenAsk
	for _, it := range (transcript.Change{Items: t.OpenAsks()}).Short().Items {
		list = append(list, api.OpenAsk{Session: row.ID, Root: root.ID, Name: root.Name(), Dir: row.Dir, Item: it})
	}
	return list, nil
}
