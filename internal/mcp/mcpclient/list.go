package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// look fetches the lists of tools, prompts and resources.
func (l *link) look(ctx context.Context, s *session) error {
	caps := &sdk.ServerCapabilities{}
	if hello := s.client.InitializeResult(); hello != nil && hello.Capabilities != nil {
		caps = hello.Capabilities
	}
	n := &notes{}
	var tools []*remote
	var prompts []Prompt
	var resources []Resource
	if caps.Tools != nil {
		listed, err := pages(n, "tools", maxTools, func(cursor string) ([]*sdk.Tool, string, error) {
			r, err := s.client.ListTools(ctx, &sdk.ListToolsParams{Cursor: cursor})
			if err != nil {
				return nil, "", err
			}
			return r.Tools, r.NextCursor, nil
		})
		if err != nil {
			return fmt.Errorf("list tools: %w", err)
		}
		tools = l.remotes(listed, n)
	}
	if caps.Prompts != nil {
		listed, err := pages(n, "prompts", maxPrompts, func(cursor string) ([]*sdk.Prompt, string, error) {
			r, err := s.client.ListPrompts(ctx, &sdk.ListPromptsParams{Cursor: cursor})
			if err != nil {
				return nil, "", err
			}
			return r.Prompts, r.NextCursor, nil
		})
		if err != nil && !unknownMethod(err) {
			return fmt.Errorf("list prompts: %w", err)
		}
		prompts = l.takePrompts(listed, n)
	}
	if caps.Resources != nil {
		listed, err := pages(n, "resources", maxResources, func(cursor string) ([]*sdk.Resource, string, error) {
			r, err := s.client.ListResources(ctx, &sdk.ListResourcesParams{Cursor: cursor})
			if err != nil {
				return nil, "", err
			}
			return r.Resources, r.NextCursor, nil
		})
		if err != nil && !unknownMethod(err) {
			return fmt.Errorf("list resources: %w", err)
		}
		resources = l.takeResources(listed, n)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tools, l.prompts, l.resources, l.faults = tools, prompts, resources, n.faults
	for _, t := range tools {
		if l.known[t.raw] == nil && len(l.known) < 4*maxTools {
			l.known[t.raw] = t
		}
	}
	return nil
}

func unknownMethod(err error) bool {
	var wire *jsonrpc.Error
	return errors.As(err, &wire) && wire.Code == jsonrpc.CodeMethodNotFound
}

// notes collects what is left out of the lists.
type notes struct{ faults []Fault }

func (n *notes) add(name, format string, args ...any) {
	if len(n.faults) < faultsKept {
		n.faults = append(n.faults, Fault{line(name, nameBytes), fmt.Sprintf(format, args...)})
	}
}

// pages fetches all pages of a list, up to a limit.
func pages[T any](n *notes, what string, limit int, page func(cursor string) ([]*T, string, error)) ([]*T, error) {
	var all []*T
	seen := map[string]bool{}
	cursor := ""
	for range maxPages {
		list, next, err := page(cursor)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
		if len(all) > limit {
			n.add(what, "more than %d: the others are ignored", limit)
			return all[:limit], nil
		}
		if next == "" {
			return all, nil
		}
		if seen[next] || len(next) > cursorBytes {
			n.add(what, "the list does not end: the rest is ignored")
			return all, nil
		}
		seen[next], cursor = true, next
	}
	n.add(what, "the list has more than %d pages: the rest is ignored", maxPages)
	return all, nil
}

// remotes converts the tools that can be offered, sorted by name.
func (l *link) remotes(listed []*sdk.Tool, n *notes) []*remote {
	var tools []*remote
	names := map[string]bool{}
	for _, t := range listed {
		if t == nil {
			continue
		}
		if len(l.server.Tools) > 0 && !slices.Contains(l.server.Tools, t.Name) {
			continue
		}
		r, err := newRemote(l.server, t)
		if err != nil {
			n.add(t.Name, "%s", err)
			continue
		}
		if names[r.public] || l.config.Taken != nil && l.config.Taken(r.public) {
			n.add(t.Name, "the name %s is already in use", r.public)
			continue
		}
		names[r.public] = true
		tools = append(tools, r)
	}
	slices.SortStableFunc(tools, func(a, b *remote) int { return strings.Compare(a.public, b.public) })
	return tools
}
