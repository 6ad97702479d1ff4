// Package webpage converts HTML pages to Markdown or plain text: the visible
// content with absolute links. Pages are untrusted, so work and results are
// bounded.
package webpage

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
)

// Markdown converts the page with the URL at to Markdown, starting with its
// title.
func Markdown(ctx context.Context, source string, at *url.URL) (string, error) {
	t, err := parse(ctx, source, at)
	if err != nil {
		return "", err
	}
	text, err := newConverter(ctx).ConvertNode(t.body)
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if err != nil {
		return "", fmt.Errorf("convert page: %w", err)
	}
	return t.show(entities.Replace(string(text))), nil
}

// Text returns the text of the page, one line per block, starting with its
// title.
func Text(ctx context.Context, source string, at *url.URL) (string, error) {
	t, err := parse(ctx, source, at)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	plain(t.body, &out, false)
	return t.show(strings.TrimSpace(out.String())), nil
}

func (t tree) show(text string) string {
	if t.title != "" {
		text = strings.TrimRight("Title: "+t.title+"\n\n"+text, "\n")
	}
	if t.cut {
		text += fmt.Sprintf("\n\n(cut: the page has more than %d elements)", maxNodes)
	}
	return text
}

// entities undoes the converter's escapes, which only a browser needs.
var entities = strings.NewReplacer("&lt;", "<", "&gt;", ">")

// newConverter returns a converter that stops when the context ends. It
// escapes nothing: a model understands the text without, and looking for what
// needs an escape takes quadratic time.
func newConverter(ctx context.Context) *converter.Converter {
	c := converter.NewConverter(converter.WithEscapeMode(converter.EscapeModeDisabled), converter.WithPlugins(
		base.NewBasePlugin(),
		commonmark.NewCommonmarkPlugin(commonmark.WithListEndComment(false), commonmark.WithLinkEmptyContentBehavior(commonmark.LinkBehaviorSkip)),
		table.NewTablePlugin(table.WithCellPaddingBehavior(table.CellPaddingBehaviorMinimal), table.WithHeaderPromotion(true)),
	))
	prune := func(_ converter.Context, body *html.Node) {
		if ctx.Err() != nil {
			body.FirstChild, body.LastChild = nil, nil
		}
	}
	for _, stage := range []int{converter.PriorityEarly, converter.PriorityStandard, converter.PriorityLate} {
		c.Register.PreRenderer(prune, stage-1)
		c.Register.PreRenderer(prune, stage+1)
	}
	c.Register.Renderer(func(converter.Context, converter.Writer, *html.Node) converter.RenderStatus {
		if ctx.Err() != nil {
			return converter.RenderSuccess
		}
		return converter.RenderTryNext
	}, converter.PriorityEarly-1)
	return c
}
