package bedrock

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
)

// transport signs requests, and converts the frames of the response to server-sent events as Anthropic's own
// API sends them.
type transport struct{ account Account }

// RoundTrip implements [http.RoundTripper].
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	signed := r.Clone(r.Context())
	signed.Header.Set("Accept", contentType)
	if err := t.sign(signed); err != nil {
		return nil, &model.ProviderError{Kind: pawl.ErrorAuth, Message: err.Error()}
	}
	base := t.account.Base
	if base == nil {
		base = http.DefaultTransport
	}
	resp, err := base.RoundTrip(signed)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), contentType) {
		resp.Header.Set("Content-Type", "text/event-stream")
		resp.ContentLength = -1
		resp.Body = newEvents(resp.Body)
	}
	return resp, nil
}

func (t *transport) sign(r *http.Request) error {
	if t.account.Bearer != "" {
		r.Header.Set("Authorization", "Bearer "+t.account.Bearer)
		return nil
	}
	if t.account.Credentials == nil {
		return errors.New("no AWS credentials found")
	}
	keys, err := t.account.Credentials.Retrieve(r.Context())
	if err != nil {
		return fmt.Errorf("get AWS credentials: %w", err)
	}
	body, err := r.GetBody()
	if err != nil {
		return err
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, body); err != nil {
		return err
	}
	return v4.NewSigner().SignHTTP(r.Context(), keys, r, hex.EncodeToString(hash.Sum(nil)), "bedrock", t.account.Region, time.Now())
}
