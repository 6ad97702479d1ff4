package api

import (
	_ "embed"
	"encoding/json"
	"maps"
	"reflect"
	"sync"
)

// wordsText has the comments of the types that go over HTTP, extracted from the code.
//
//go:embed schema_words.json
var wordsText []byte

// words has the comments of one type. The map is keyed by Go name, such as
// pawl.Session.
type words struct {
	What   string            `json:"what,omitempty"`
	Fields map[string]string `json:"fields,omitempty"` // by Go name
	Values []string          `json:"values,omitempty"` // the constants of a string type
}

var allWords = sync.OnceValue(func() map[string]words {
	var all map[string]words
	if err := json.Unmarshal(wordsText, &all); err != nil {
		panic("api: schema_words.json: " + err.Error()) // embedded, so it is valid
	}
	return all
})

func typeWords(g reflect.Type) string { return allWords()[g.String()].What }

// fieldWords returns the comment of a field of g, or of a struct that g embeds.
func fieldWords(g reflect.Type, f reflect.StructField) string {
	for _, i := range f.Index[:len(f.Index)-1] {
		g = g.Field(i).Type
	}
	return allWords()[g.String()].Fields[f.Name]
}

// values returns the enum of a string type that has constants, else nil.
func values(g reflect.Type) schema {
	list := allWords()[g.String()].Values
	if len(list) == 0 {
		return nil
	}
	return schema{"enum": list}
}

// described returns a copy of s with the non-empty values of more added.
func described(s, more schema) schema {
	s = maps.Clone(s)
	for key, value := range more {
		if value != "" {
			s[key] = value
		}
	}
	return s
}
