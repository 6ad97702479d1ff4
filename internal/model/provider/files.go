package provider

import (
	"context"
	"iter"

	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/catalog"
	"github.com/pawl-dev/pawl/internal/model/protocol"
)

// supportedFiles replaces files that the model does not support by text.
type supportedFiles struct {
	model.Model
	takes protocol.Takes
}

// Stream implements [model.Model].
func (f supportedFiles) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Chunk, error] {
	req.Messages = f.takes.Fit(req.Messages)
	return f.Model.Stream(ctx, req)
}

// takes returns the file types that a model supports, and of images those that its provider lists. Unknown
// types are left out: for one unsupported file a provider rejects the request, and all later ones of the
// session.
func takes(p catalog.Provider, m catalog.Model) protocol.Takes {
	var types protocol.Takes
	switch {
	case !m.Images:
	case p.Dialect == "xai":
		types = protocol.Takes{"image/png", "image/jpeg"}
	case p.Protocol == catalog.ProtocolGemini, p.Protocol == catalog.ProtocolVertex && !isClaude(m):
		types = protocol.Takes{"image/png", "image/jpeg", "image/webp"}
	default:
		types = protocol.Takes{"image/png", "image/jpeg", "image/webp", "image/gif"}
	}
	if m.PDF {
		types = append(types, protocol.PDF)
	}
	return types
}
