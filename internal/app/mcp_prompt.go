package app

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/extension/definition"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/mcp/mcpclient"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// Limits for the documents of MCP servers in a prompt.
const (
	maxDocuments  = 20       // per prompt
	documentBytes = 64 << 10 // per document
)

var (
	// serverPrompt matches the name of a server's prompt: mcp__server__prompt or
	// server:prompt.
	serverPrompt = regexp.MustCompile(`^(?:mcp__([a-zA-Z0-9-]+(?:_[a-zA-Z0-9-]+)*)__|([a-zA-Z0-9_-]+):)(.+)$`)
	// serverDocument matches a reference to a server's document: @server:uri.
	serverDocument = regexp.MustCompile(`(?:^|[\s("'])@([a-zA-Z0-9_-]+):([^\s"']+)`)
)

// startConfigured starts the directory's servers if one with the given name is configured and
// enabled. It reports whether there is one.
func (s *MCPServers) startConfigured(ctx context.Context, dir, name string, trusted bool) bool {
	entries, _, err := MCPServersOf(ctx, s.guard, dir, trusted)
	if err != nil || !slices.ContainsFunc(entries, func(e MCPServer) bool { return e.Name == name && !e.Disabled }) {
		return false
	}
	s.startAll(ctx, dir, trusted)
	return true
}

// prompt replaces the first part of p with the MCP prompt that name refers to, filled with args. ok
// is false if name does not refer to a prompt of a configured server.
func (s *MCPServers) prompt(ctx context.Context, dir, name, args string, trusted bool, p *pawl.Prompt) (ok bool, err error) {
	m := serverPrompt.FindStringSubmatch(name)
	if m == nil {
		return false, nil
	}
	server, wanted := cmp.Or(m[1], m[2]), m[3]
	if !s.startConfigured(ctx, dir, server, trusted) {
		return false, nil
	}
	if err := s.Await(ctx, dir, server); err != nil {
		return true, err
	}
	found, err := s.findPrompt(dir, server, wanted)
	if err != nil {
		return true, err
	}
	filled, err := found.Fill(definition.SplitArguments(args))
	if err != nil {
		return true, err
	}
	r, err := s.GetPrompt(ctx, dir, server, found.Name, filled)
	if err != nil {
		return true, err
	}
	p.Parts[0] = pawl.Text{Text: r.Content}
	for _, f := range r.Files {
		p.Parts = append(p.Parts, f)
	}
	return true, nil
}

// findPrompt returns a server's prompt by its name or by the last part of its command name.
func (s *MCPServers) findPrompt(dir, server, wanted string) (mcpclient.Prompt, error) {
	var names []string
	for _, p := range s.Prompts(dir) {
		if p.Server != server {
			continue
		}
		if p.Name == wanted || strings.HasSuffix(p.Command(), "__"+wanted) {
			return p, nil
		}
		names = append(names, "/"+p.Command())
	}
	return mcpclient.Prompt{}, fault.New(pawl.ErrNotFound, "unknown prompt %[2]s of the MCP server %[1]s: use one of %[3]s", server, sanitize.Line(wanted), strings.Join(names, ", "))
}

// attach adds the documents that words refers to as @server:uri to p. It returns a note for each
// document that cannot be read.
func (s *MCPServers) attach(ctx context.Context, dir, words string, trusted bool, p *pawl.Prompt) (notes []string) {
	seen := map[string]bool{}
	for _, m := range serverDocument.FindAllStringSubmatch(words, -1) {
		server, uri := m[1], strings.TrimRight(m[2], ".,;!?)")
		name := server + ":" + uri
		if seen[name] || !s.startConfigured(ctx, dir, server, trusted) {
			continue
		}
		seen[name] = true
		text, err := s.document(ctx, dir, server, uri, len(seen))
		if err != nil {
			notes = append(notes, fmt.Sprintf("cannot read @%s: %s", name, humanize.FirstLine(err.Error(), 300)))
			continue
		}
		p.Parts = append(p.Parts, pawl.Text{Text: text})
	}
	return notes
}

// document returns the text for the model of the nth document of a prompt.
func (s *MCPServers) document(ctx context.Context, dir, server, uri string, n int) (string, error) {
	if n > maxDocuments {
		return "", fault.New(pawl.ErrInvalid, "a prompt can have at most %d documents", maxDocuments)
	}
	if err := s.Await(ctx, dir, server); err != nil {
		return "", err
	}
	r, err := s.ReadResource(ctx, dir, server, uri)
	if err != nil {
		return "", err
	}
	if len(r.Content) > documentBytes {
		return "", fault.New(pawl.ErrInvalid, "the document has %d bytes, at most %d are allowed", len(r.Content), documentBytes)
	}
	return fmt.Sprintf("The document %s of the MCP server %s:\n%s", sanitize.Line(uri), server, r.Content), nil
}
