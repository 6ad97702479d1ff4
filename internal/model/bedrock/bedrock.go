// Package bedrock gives access to Claude on Amazon Bedrock.
package bedrock

import (
	"context"
	"net/http"
	"net/url"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/model/anthropic"
	"github.com/pawl-dev/pawl/internal/model/protocol"
)

// anthropicVersion is the version in the body of requests to Claude.
const anthropicVersion = "bedrock-2023-05-31"

// Account is an AWS account, with a bearer token or credentials for signing requests.
type Account struct {
	Region      string
	Bearer      string // Bedrock API key; takes precedence over Credentials
	Credentials aws.CredentialsProvider
	BaseURL     string            // "" means the AWS endpoint of the region
	Base        http.RoundTripper // nil means http.DefaultTransport
}

// Environment returns the account in the environment variables of AWS tools: AWS_REGION or AWS_DEFAULT_REGION,
// and AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID with AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN.
func Environment(getenv func(string) string) (Account, error) {
	a := Account{Region: getenv("AWS_REGION"), Bearer: getenv("AWS_BEARER_TOKEN_BEDROCK")}
	if a.Region == "" {
		a.Region = getenv("AWS_DEFAULT_REGION")
	}
	if a.Region == "" {
		return Account{}, fault.New(pawl.ErrInvalid, "no AWS region configured").Hint("Set AWS_REGION.")
	}
	keys := aws.Credentials{
		AccessKeyID:     getenv("AWS_ACCESS_KEY_ID"),
		SecretAccessKey: getenv("AWS_SECRET_ACCESS_KEY"),
		SessionToken:    getenv("AWS_SESSION_TOKEN"),
		Source:          "environment",
	}
	if a.Bearer == "" && !keys.HasKeys() {
		return Account{}, fault.New(pawl.ErrInvalid, "no AWS credentials found").Hint("Set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.")
	}
	a.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return keys, nil })
	return a, nil
}

// Claude returns an Anthropic model by its id, the id of an inference profile, or an ARN.
func (a Account) Claude(model string) *anthropic.Client {
	base := a.BaseURL
	if base == "" {
		base = "https://bedrock-runtime." + a.Region + ".amazonaws.com"
	}
	return &anthropic.Client{
		Endpoint: protocol.Endpoint{BaseURL: base, Client: &http.Client{Transport: &transport{a}}},
		Model:    model,
		Cloud: &anthropic.Cloud{
			Path:    "/model/" + url.QueryEscape(model) + "/invoke-with-response-stream", // a path segment with escaped colons
			Version: anthropicVersion,
		},
	}
}
