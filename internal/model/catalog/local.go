package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode"
)

// Bounds of a query to a local server.
const (
	localWait = 300 * time.Millisecond // it is on this machine
	maxAnswer = 1 << 20                // bytes of the list of models
)

// Served is a local server that responds, with its models.
type Served struct {
	Provider Provider
	Models   []Model
}

// Custom is the id of the provider for a server that the user names by its URL.
const Custom = "custom"

// Locals returns the local providers whose address is known.
func (c *Catalog) Locals() []Provider {
	var list []Provider
	for _, p := range c.Providers {
		if p.Local && p.BaseURL != "" {
			list = append(list, p)
		}
	}
	return list
}

// Local queries the servers for their models concurrently, and returns those that respond as a model server
// does, in the given order.
func Local(ctx context.Context, servers ...Provider) []Served {
	ctx, cancel := context.WithTimeout(ctx, localWait)
	defer cancel()
	answers := make([]*Served, len(servers))
	var wg sync.WaitGroup
	for i, p := range servers {
		wg.Go(func() {
			if models, err := List(ctx, p, ""); err == nil {
				answers[i] = &Served{Provider: p, Models: models}
			}
		})
	}
	wg.Wait()
	var list []Served
	for _, s := range answers {
		if s != nil {
			list = append(list, *s)
		}
	}
	return list
}

// localClient connects directly: no proxy and no redirects.
var localClient = &http.Client{
	Transport:     &http.Transport{DisableKeepAlives: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// List queries a server for its models. The key may be "".
func List(ctx context.Context, p Provider, key string) ([]Model, error) {
	if p.Dialect == "ollama" {
		return askOllama(ctx, p)
	}
	var list struct {
		Data []struct {
			ID          string `json:"id"`
			MaxModelLen int    `json:"max_model_len"` // vLLM
			Meta        struct {
				Context      int `json:"n_ctx"`       // llama.cpp: the configured context
				ContextTrain int `json:"n_ctx_train"` // llama.cpp: the maximum of the model
			} `json:"meta"`
		} `json:"data"`
	}
	if err := get(ctx, p.BaseURL+"/models", key, &list); err != nil {
		return nil, err
	}
	if list.Data == nil {
		return nil, errors.New("the response has no list of models")
	}
	var models []Model
	for _, d := range list.Data {
		if !printable(d.ID) {
			continue
		}
		m := localModel(p, d.ID)
		for _, n := range []int{d.MaxModelLen, d.Meta.Context, d.Meta.ContextTrain} {
			if m.Context == 0 {
				m.Context = max(0, n)
			}
		}
		models = append(models, m)
	}
	return models, nil
}

func askOllama(ctx context.Context, p Provider) ([]Model, error) {
	var list struct {
		Models []struct {
			Name string `json:"name"`
		} `json:"models"`
	}
	if err := get(ctx, strings.TrimSuffix(p.BaseURL, "/v1")+"/api/tags", "", &list); err != nil {
		return nil, err
	}
	if list.Models == nil {
		return nil, errors.New("the response has no list of models")
	}
	var models []Model
	for _, m := range list.Models {
		if printable(m.Name) {
			models = append(models, localModel(p, m.Name))
		}
	}
	return models, nil
}

// printable reports whether a name is safe to display: it comes from an unknown program.
func printable(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || r == ' ' })
}

// localModel returns a model of which only the name is known. It is free, and assumed to support tools.
func localModel(p Provider, id string) Model {
	m := Model{Ref: p.ID + "/" + id, Tools: true}
	m.complete()
	return m
}

// StatusError is an answer of a server that is not a list of models.
type StatusError struct{ Code int }

func (e *StatusError) Error() string { return fmt.Sprintf("the server answered HTTP %d", e.Code) }

func get(ctx context.Context, url, key string, v any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := localClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return &StatusError{resp.StatusCode}
	}
	return json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(v)
}
