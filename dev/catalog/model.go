package main

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"charm.land/catwalk/pkg/catwalk"
)

// model is a model as the file has it.
type model struct {
	Ref       string   `json:"ref"`
	ID        string   `json:"id,omitempty"` // only if it is not what follows the provider in Ref
	Name      string   `json:"name"`
	Context   int64    `json:"context"`
	Output    int64    `json:"output,omitempty"`
	Prices    prices   `json:"prices"`
	Images    bool     `json:"images,omitempty"`
	PDF       bool     `json:"pdf,omitempty"`
	Tools     bool     `json:"tools,omitempty"`
	Reasoning bool     `json:"reasoning,omitempty"`
	Efforts   []string `json:"efforts,omitempty"`
	Prefill   bool     `json:"prefill,omitempty"`
}

// prices are in dollars for a million tokens.
type prices struct {
	Input      json.Number `json:"input"`
	Output     json.Number `json:"output"`
	CacheRead  json.Number `json:"cache_read"`
	CacheWrite json.Number `json:"cache_write"`
}

var (
	dated = regexp.MustCompile(`-20\d{6}$`)
	// reads PDF files, where it sees images.
	pdf          = regexp.MustCompile(`(^|[./])(claude|gemini)-|(^|/)(gpt-(4o|4\.1|[5-9])|o[34])`)
	pdfProviders = []string{"anthropic", "openai", "azure", "gemini", "vertexai", "bedrock", "openrouter", "vercel"}
	// takes the beginning of its reply: Claude, until 4.6 ended it.
	prefill          = regexp.MustCompile(`claude-((opus|sonnet|haiku)-4([-.][015])?|4([-.][15])?-\w+|3([-.][57])?-\w+)(-20\d{6}|$|@)`)
	prefillProviders = []string{"anthropic", "vertexai", "bedrock", "openrouter"}
)

// refOf names a model: without the date at the end of its id, which is no part
// of what people call it.
func refOf(provider, id string) string {
	if id == "" {
		return ""
	}
	return provider + "/" + dated.ReplaceAllString(id, "")
}

func modelOf(p provider, m catwalk.Model) model {
	out := model{
		Ref: refOf(p.ID, m.ID), Name: m.Name, Context: m.ContextWindow, Output: m.DefaultMaxTokens,
		Prices: pricesOf(m.CostPer1MIn, m.CostPer1MOut, m.CostPer1MInCached, m.CostPer1MOutCached),
		Images: m.SupportsImages,
		PDF:    m.SupportsImages && slices.Contains(pdfProviders, p.ID) && pdf.MatchString(m.ID),
		Tools:  true, // the source keeps models that take tools only
		// A level named is reasoning, whatever the flag says.
		Reasoning: m.CanReason || len(m.ReasoningLevels) > 0, Efforts: m.ReasoningLevels,
		Prefill: slices.Contains(prefillProviders, p.ID) && prefill.MatchString(m.ID),
	}
	if out.Ref != p.ID+"/"+m.ID {
		out.ID = m.ID
	}
	if date := dated.FindString(m.ID); date != "" && p.ID == "vertexai" {
		out.ID = strings.TrimSuffix(m.ID, date) + "@" + date[1:] // as Google writes it
	}
	if out.Output >= out.Context {
		out.Output = 0 // the source repeats the window when it does not know
	}
	return out
}

// pricesOf takes the cached prices by their size, as the source has them either
// way round: "in cached" means the price of a write for most providers, that of
// a read for others. Reads from a cache are cheaper than plain input, writes
// never are. Where one is not known, the plain price is charged.
func pricesOf(in, out, inCached, outCached float64) prices {
	read, write := in, in
	for _, price := range []float64{inCached, outCached} {
		if price > 0 && price < read {
			read = price
		}
		if price > write {
			write = price
		}
	}
	if in == 0 {
		write = 0 // free, or paid by subscription
	}
	return prices{dollars(in), dollars(out), dollars(read), dollars(write)}
}

// dollars rounds away what floating point adds, to a billionth.
func dollars(f float64) json.Number {
	return json.Number(strconv.FormatFloat(math.Round(f*1e9)/1e9, 'f', -1, 64))
}
