package registry

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/ttreport/ttreport/ingest/redact"
)

// authorize answers a challenge: Basic with the user's password, or a token that the named service gives (CNCF
// distribution, "Token Authentication Specification").
func (c *conversation) authorize(ctx context.Context, challenge string) (string, error) {
	scheme, rest, _ := strings.Cut(challenge, " ")
	switch {
	case strings.EqualFold(scheme, "basic") && c.user != "":
		return basic(c.user, c.password), nil
	case !strings.EqualFold(scheme, "bearer"):
		return "", errors.New("the registry wants a password; docker login keeps one")
	}
	asked := parameters(rest)
	realm, err := url.Parse(asked["realm"])
	if err != nil || realm.Host == "" || realm.Scheme != "https" && c.base() != "http://"+c.Registry {
		return "", errors.New("the registry names no service of tokens that can be asked safely")
	}
	query := realm.Query()
	query.Set("service", asked["service"])
	query.Set("scope", cmp.Or(asked["scope"], "repository:"+c.Name+":pull"))
	realm.RawQuery = query.Encode()
	login := ""
	if c.user != "" {
		login = basic(c.user, c.password)
	}
	resp, err := c.get(ctx, realm.String(), login)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	if err := refused(resp); err != nil {
		return "", fmt.Errorf("a token: %w", err)
	}
	var t struct {
		Token  string `json:"token"`
		Access string `json:"access_token"`
	}
	err = json.NewDecoder(io.LimitReader(resp.Body, mostBody)).Decode(&t)
	if token := cmp.Or(t.Token, t.Access); err == nil && token != "" {
		redact.Know(token)
		return "Bearer " + token, nil
	}
	return "", errors.New("the registry's service of tokens gives none")
}

func basic(user, password string) string {
	r := http.Request{Header: http.Header{}}
	r.SetBasicAuth(user, password)
	return r.Header.Get("Authorization")
}

// parameters reads realm="…",service="…" of a challenge.
func parameters(text string) map[string]string {
	out := map[string]string{}
	for text != "" {
		name, rest, ok := strings.Cut(text, "=")
		if !ok {
			break
		}
		var value string
		if quoted, isQuoted := strings.CutPrefix(rest, `"`); isQuoted {
			value, text, _ = strings.Cut(quoted, `"`)
		} else if at := strings.IndexByte(rest, ','); at >= 0 {
			value, text = rest[:at], rest[at:]
		} else {
			value, text = rest, ""
		}
		out[strings.ToLower(strings.Trim(name, ", "))] = value
		text = strings.TrimLeft(text, ", ")
	}
	return out
}

// DockerLogin returns what docker login keeps for a registry in its configuration file. Passwords in a keychain are not
// read.
func DockerLogin(registry string) (user, password string) {
	folder := os.Getenv("DOCKER_CONFIG")
	if home, err := os.UserHomeDir(); folder == "" && err == nil {
		folder = filepath.Join(home, ".docker")
	}
	data, err := os.ReadFile(filepath.Join(folder, "config.json"))
	var config struct {
		Auths map[string]struct {
			Auth string `json:"auth"`
		} `json:"auths"`
	}
	if err != nil || json.Unmarshal(data, &config) != nil {
		return "", ""
	}
	names := []string{registry, "https://" + registry}
	if registry == "registry-1.docker.io" {
		names = append(names, "https://index.docker.io/v1/")
	}
	for _, name := range names {
		if text, err := base64.StdEncoding.DecodeString(config.Auths[name].Auth); err == nil && len(text) > 0 {
			user, password, _ = strings.Cut(string(text), ":")
			redact.Know(password)
			return user, password
		}
	}
	return "", ""
}
