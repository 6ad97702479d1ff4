// Package bedrock reaches Claude by way of Amazon Bedrock.
package bedrock

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model/anthropic"
	"github.com/pawl-dev/pawl/internal/model/protocol"
)

// anthropicVersion is what Claude's requests say here.
const anthropicVersion = "bedrock-2023-05-31"

// Account is an AWS account whose models are asked, by a bearer token or by
// signed requests.
type Account struct {
	Region      string
	Bearer      string // a Bedrock API key; goes before Credentials
	Credentials aws.CredentialsProvider
	BaseURL     string            // "" means Amazon's for the region
	Base        http.RoundTripper // nil means http.DefaultTransport
}

// Environment returns the account that the variables of AWS's own tools name:
// AWS_REGION or AWS_DEFAULT_REGION, and AWS_BEARER_TOKEN_BEDROCK, or
// AWS_ACCESS_KEY_ID with AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN.
func Environment(getenv func(string) string) (Account, error) {
	a := Account{Region: getenv("AWS_REGION"), Bearer: getenv("AWS_BEARER_TOKEN_BEDROCK")}
	if a.Region == "" {
		a.Region = getenv("AWS_DEFAULT_REGION")
	}
	if a.Region == "" {
		return Account{}, fmt.Errorf("no AWS region is named: set AWS_REGION: %w", pawl.ErrInvalid)
	}
	keys := aws.Credentials{
		AccessKeyID:     getenv("AWS_ACCESS_KEY_ID"),
		SecretAccessKey: getenv("AWS_SECRET_ACCESS_KEY"),
		SessionToken:    getenv("AWS_SESSION_TOKEN"),
		Source:          "environment",
	}
	if a.Bearer == "" && !keys.HasKeys() {
		return Account{}, fmt.Errorf("no AWS credentials: set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY: %w", pawl.ErrInvalid)
	}
	a.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return keys, nil })
	return a, nil
}

// Claude returns a model of Anthropic's: its id, an inference profile's id, or an ARN.
func (a Account) Claude(model string) *anthropic.Client {
	base := a.BaseURL
	if base == "" {
		base = "https://bedrock-runtime." + a.Region + ".amazonaws.com"
	}
	return &anthropic.Client{
		Endpoint: protocol.Endpoint{BaseURL: base, Client: &http.Client{Transport: &transport{a}}},
		Model:    model,
		Cloud: &anthropic.Cloud{
			Path:    "/model/" + url.QueryEscape(model) + "/invoke-with-response-stream", // a path segment with its colons escaped, too
			Version: anthropicVersion,
		},
	}
}
