package mcpclient

import (
	"context"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// Prompt is a text that a server keeps for people to send.
type Prompt struct {
	Server      string
	Name        string // as the server has it
	Description string
	Arguments   []Argument
}

// Argument is what a prompt needs to know.
type Argument struct {
	Name, Description string
	Required          bool
}

// Command is how a person calls the prompt, behind a slash.
func (p Prompt) Command() string { return prefix + p.Server + "__" + identifier(p.Name, maxName) }

// Fill gives the words that a person has written to the arguments of a
// prompt, in their order. The last takes all that are left.
func (p Prompt) Fill(words []string) (map[string]string, error) {
	filled := map[string]string{}
	for i, a := range p.Arguments {
		switch {
		case i < len(words) && i == len(p.Arguments)-1:
			filled[a.Name] = strings.Join(words[i:], " ")
		case i < len(words):
			filled[a.Name] = words[i]
		case a.Required:
			return nil, fmt.Errorf("the prompt %s needs %s: %w", p.Name, a.Name, pawl.ErrInvalid)
		}
	}
	if len(p.Arguments) == 0 && len(words) > 0 {
		return nil, fmt.Errorf("the prompt %s takes no words: %w", p.Name, pawl.ErrInvalid)
	}
	return filled, nil
}

// Resource is a document of a server.
type Resource struct {
	Server      string
	URI         string
	Name        string
	Description string
	MediaType   string
}

// maxArguments bounds those of a prompt.
const maxArguments = 20

func (l *link) takePrompts(listed []*sdk.Prompt, n *notes) []Prompt {
	var prompts []Prompt
	for _, p := range listed {
		if p == nil {
			continue
		}
		if p.Name == "" || len(p.Name) > nameBytes || sanitize.FirstStrange(p.Name) != "" || len(p.Arguments) > maxArguments {
			n.add(p.Name, "the prompt's name is empty, too long or does not show, or it has more than %d arguments", maxArguments)
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
			n.add(r.URI, "the resource's name is empty, too long or does not show")
			continue
		}
		resources = append(resources, Resource{
			Server: l.server.Name, URI: r.URI, Name: line(r.Name, nameBytes),
			Description: line(r.Description, descriptionBytes), MediaType: line(r.MIMEType, nameBytes),
		})
	}
	return resources
}

// Prompts returns those of the servers that are ready, in the order of the
// servers' names.
func (s *Servers) Prompts(dir string) []Prompt {
	var all []Prompt
	for _, l := range s.of(dir) {
		l.mu.Lock()
		all = append(all, slices.Clone(l.prompts)...)
		l.mu.Unlock()
	}
	return all
}

// Resources returns those of the servers that are ready, likewise.
func (s *Servers) Resources(dir string) []Resource {
	var all []Resource
	for _, l := range s.of(dir) {
		l.mu.Lock()
		all = append(all, slices.Clone(l.resources)...)
		l.mu.Unlock()
	}
	return all
}

// GetPrompt returns the text of a prompt, filled in. It is as good as the words of
// the person who asks for it, and not marked.
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

// ReadResource returns a document, marked as data from outside.
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

// request asks a server something, within its time.
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
