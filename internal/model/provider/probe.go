package provider

import (
	"context"
	"errors"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
)

// probeTokens limits the reply to a probe. Some models need a few tokens to reply at all.
const probeTokens = 16

// Probe sends one small request to a model, without retries, to find out whether its provider accepts the key.
// Errors of the provider are a *model.ProviderError.
func (o *Opener) Probe(ctx context.Context, ref string) error {
	known, err := o.Catalog()
	if err != nil {
		return err
	}
	m, err := o.client(known, ref)
	if err != nil {
		return err
	}
	req := model.Request{
		Messages:  []pawl.Message{{Role: pawl.RoleUser, Parts: pawl.Parts{pawl.Text{Text: "Reply with OK."}}}},
		MaxTokens: probeTokens,
	}
	for c, err := range m.Stream(ctx, req) {
		if err != nil {
			return err
		}
		if c.Kind == model.ChunkFinish || c.Kind == model.ChunkText {
			return nil
		}
	}
	return errors.New("the reply was cut off")
}
