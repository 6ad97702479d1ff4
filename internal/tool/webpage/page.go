// Package webpage makes Markdown or plain text of a page in HTML: what people
// see of it, with absolute links, and nothing of what they do not see. Pages
// come from anywhere, so the work and its result are bounded.
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

// Markdown returns the page whose address is at as Markdown, its title first.
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

// Text returns the text of the page, a line for each block, its title first.
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

// entities undoes what the converter does to characters that matter to a
// browser only.
var entities = strings.NewReplacer("&lt;", "<", "&gt;", ">")

// newConverter returns a converter that comes to its end when the context does.
// It escapes nothing: a model reads what is meant, and the search for what
// needs an escape takes time that grows with the square of a text.
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
