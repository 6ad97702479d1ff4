package mcpclient

import (
	"context"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// Prompt is a prompt of a server.
type Prompt struct {
	Server      string
	Name        string // the server's name for it
	Description string
	Arguments   []Argument
}

// Argument is an argument of a prompt.
type Argument struct {
	Name, Description string
	Required          bool
}

// Command returns the slash command of the prompt, without the slash.
func (p Prompt) Command() string { return prefix + p.Server + "__" + identifier(p.Name, maxName) }

// Fill assigns the words that a user has typed to the arguments of a prompt,
// in order. The last argument gets all remaining words.
func (p Prompt) Fill(words []string) (map[string]string, error) {
	filled := map[string]string{}
	for i, a := range p.Arguments {
		switch {
		case i < len(words) && i == len(p.Arguments)-1:
			filled[a.Name] = strings.Join(words[i:], " ")
		case i < len(words):
			filled[a.Name] = words[i]
		case a.Required:
			return nil, fault.New(pawl.ErrInvalid, "prompt %s needs the argument %s", p.Name, a.Name)
		}
	}
	if len(p.Arguments) == 0 && len(words) > 0 {
		return nil, fault.New(pawl.ErrInvalid, "prompt %s accepts no arguments", p.Name)
	}
	return filled, nil
}

// Resource is a resource of a server.
type Resource struct {
	Server      string
	URI         string
	Name        string
	Description string
	MediaType   string
}

// maxArguments is the maximum number of arguments of a prompt.
const maxArguments = 20

func (l *link) takePrompts(listed []*sdk.Prompt, n *notes) []Prompt {
	var prompts []Prompt
	for _, p := range listed {
		if p == nil {
			continue
		}
		if p.Name == "" || len(p.Name) > nameBytes || sanitize.FirstStrange(p.Name) != "" || len(p.Arguments) > maxArguments {
			n.add(p.Name, "the prompt's name is empty, too long or has invisible characters, or it has more than %d arguments", maxArguments)
			continue
		}
		prompt := Prompt{Server: l.server.Name, Name: p.Name, Description: line(p.Description, descriptionBytes)}
		for _, a := range p.Arguments {
			prompt.Arguments = append(prompt.Arguments, Argument{line(a.Name, nameBytes), line(a.Description, descriptionBytes), a.Required})
		}
		prompts = append(prompts, prompt)
	}
	return prompts
}

func (l *link) takeResources(listed []*sdk.Resource, n *notes) []Resource {
	var resources []Resource
	for _, r := range listed {
		if r == nil {
			continue
		}
		if r.URI == "" || len(r.URI) > uriBytes || sanitize.FirstStrange(r.URI) != "" {
			n.add(r.URI, "the resource's name is empty, too long or has invisible characters")
			continue
		}
		resources = append(resources, Resource{
			Server: l.server.Name, URI: r.URI, Name: line(r.Name, nameBytes),
			Description: line(r.Description, descriptionBytes), MediaType: line(r.MIMEType, nameBytes),
		})
	}
	return resources
}

// Prompts returns the prompts of the servers that are ready, ordered by server
// name.
func (s *Servers) Prompts(dir string) []Prompt {
	var all []Prompt
	for _, l := range s.of(dir) {
		l.mu.Lock()
		all = append(all, slices.Clone(l.prompts)...)
		l.mu.Unlock()
	}
	return all
}

// Resources returns the resources of the servers that are ready, ordered by
// server name.
func (s *Servers) Resources(dir string) []Resource {
	var all []Resource
	for _, l := range s.of(dir) {
		l.mu.Lock()
		all = append(all, slices.Clone(l.resources)...)
		l.mu.Unlock()
	}
	return all
}

// GetPrompt returns the text of a prompt with its arguments filled in. It
// counts as the words of the user who requests it and is not marked as
// untrusted.
func (s *Servers) GetPrompt(ctx context.Context, dir, server, name string, arguments map[string]string) (pawl.Result, error) {
	var c contents
	err := s.request(ctx, dir, server, func(ctx context.Context, session *session) error {
		r, err := session.client.GetPrompt(ctx, &sdk.GetPromptParams{Name: name, Arguments: arguments})
		if err != nil {
			return err
		}
		for _, m := range r.Messages {
			if m != nil && m.Role == "assistant" {
				c.add("The assistant said:")
			}
			if m != nil {
				c.part(m.Content)
			}
		}
		return nil
	})
	if err != nil {
		return pawl.Result{}, fmt.Errorf("get prompt %s: %w", line(name, nameBytes), err)
	}
	return c.result(), nil
}

// ReadResource returns a resource, marked as untrusted text.
func (s *Servers) ReadResource(ctx context.Context, dir, server, uri string) (pawl.Result, error) {
	var c contents
	err := s.request(ctx, dir, server, func(ctx context.Context, session *session) error {
		r, err := session.client.ReadResource(ctx, &sdk.ReadResourceParams{URI: uri})
		if err != nil {
			return err
		}
		for _, part := range r.Contents {
			if part != nil {
				c.resource(part)
			}
		}
		return nil
	})
	if err != nil {
		return pawl.Result{}, fmt.Errorf("read resource %s: %w", line(uri, uriBytes), err)
	}
	return outside(server+" "+line(uri, uriBytes), c.result()), nil
}

// request sends a request to a server, within its timeout.
func (s *Servers) request(ctx context.Context, dir, server string, do func(context.Context, *session) error) error {
	l, err := s.find(dir, server)
	if err != nil {
		return err
	}
	session, err := l.ready()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, l.server.timeout(), fmt.Errorf("%s did not answer within %s", server, l.server.timeout()))
	defer cancel()
	err = do(ctx, session)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return l.failure(session, err)
}
