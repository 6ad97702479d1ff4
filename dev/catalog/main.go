// Command catalog writes the data of internal/model/catalog from Catwalk's
// (charm.land/catwalk). Run it from the module's root, by go generate ./internal/model/catalog.
//
// Which providers we speak to, and how, is the table in providers.go; what the
// source does not know of a model (PDF, prefill) is in model.go.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	"charm.land/catwalk/pkg/embedded"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "catalog: %v\n", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("usage: catalog FILE")
	}
	data, err := build(embedded.GetAll())
	if err != nil {
		return err
	}
	text, err := data.text()
	if err != nil {
		return err
	}
	return os.WriteFile(args[0], text, 0o644)
}

// data is the file: what internal/model/catalog reads.
type data struct {
	Providers []provider
	Models    []model
}

// text is the file's JSON, a provider or model a line, so that a change can be read.
func (d data) text() ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(`{"providers":[`)
	if err := writeLines(&b, d.Providers); err != nil {
		return nil, err
	}
	b.WriteString(`],"models":[`)
	if err := writeLines(&b, d.Models); err != nil {
		return nil, err
	}
	b.WriteString("]}\n")
	return b.Bytes(), nil
}

func writeLines[T any](b *bytes.Buffer, list []T) error {
	for i, v := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
		var line bytes.Buffer
		enc := json.NewEncoder(&line)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			return err
		}
		b.Write(bytes.TrimRight(line.Bytes(), "\n"))
	}
	b.WriteByte('\n')
	return nil
}
