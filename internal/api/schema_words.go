package api

import (
	_ "embed"
	"encoding/json"
	"maps"
	"reflect"
	"sync"
)

// wordsText is what the comments in the code say of the types that go over HTTP.
//
//go:embed schema_words.json
var wordsText []byte

// words are the comments of types, by their names in Go, e.g. pawl.Session.
type words struct {
	What   string            `json:"what,omitempty"`
	Fields map[string]string `json:"fields,omitempty"` // by their names in Go
	Values []string          `json:"values,omitempty"` // that a string may have, if they are named
}

var allWords = sync.OnceValue(func() map[string]words {
	var all map[string]words
	if err := json.Unmarshal(wordsText, &all); err != nil {
		panic("api: schema_words.json: " + err.Error()) // it is part of the program
	}
	return all
})

func typeWords(g reflect.Type) string { return allWords()[g.String()].What }

// fieldWords are those of a field that is g's or of a type that g embeds.
func fieldWords(g reflect.Type, f reflect.StructField) string {
	for _, i := range f.Index[:len(f.Index)-1] {
		g = g.Field(i).Type
	}
	return allWords()[g.String()].Fields[f.Name]
}

// values says which a string may have.
func values(g reflect.Type) schema {
	list := allWords()[g.String()].Values
	if len(list) == 0 {
		return nil
	}
	return schema{"enum": list}
}

// described adds to a schema, of what is not empty.
func described(s, more schema) schema {
	s = maps.Clone(s)
	for key, value := range more {
		if value != "" {
			s[key] = value
		}
	}
	return s
}
