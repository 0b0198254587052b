package traffic

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
)

// Endpoint is what of an OpenAI-compatible server a request is for.
type Endpoint string

// Endpoints, by the names that they have in workloads. Embeddings and rerank answer at once and have no tokens.
const (
	Completions Endpoint = "" // the default, /v1/completions
	Chat        Endpoint = "chat"
	Responses   Endpoint = "responses"
	Embeddings  Endpoint = "embeddings"
	Rerank      Endpoint = "rerank"
)

var endpoints = []Endpoint{"completions", Chat, Responses, Embeddings, Rerank}

// Pools reports whether answers are vectors or scores instead of tokens.
func (e Endpoint) Pools() bool { return e == Embeddings || e == Rerank }

// Talks reports whether requests are lists of messages.
func (e Endpoint) Talks() bool { return e == Chat || e == Responses }

const (
	mostTurns    = 1000
	longestPause = 24 * time.Hour
)

// SetClient sets a field that says what clients do, from its text; known is false for the name of any other field.
func (s *Shape) SetClient(name, text string) (known bool, err error) {
	switch name {
	case schema.DimEndpoint:
		if s.Endpoint = Endpoint(text); !slices.Contains(endpoints, s.Endpoint) {
			var names []string
			for _, e := range endpoints {
				names = append(names, string(e))
			}
			return true, fmt.Errorf("endpoint=%s is none of %s", text, strings.Join(names, ", "))
		}
		if text == string(endpoints[0]) {
			s.Endpoint = Completions
		}
	case schema.DimTurns:
		if s.Turns, err = strconv.Atoi(text); err != nil || s.Turns < 1 || s.Turns > mostTurns {
			return true, fmt.Errorf("turns=%s is no number of turns up to %d, as in turns=5", text, mostTurns)
		}
	case schema.DimThink:
		s.Think, err = pause(name, text)
	case schema.DimImage:
		s.Image, err = ParseImage(text)
	case schema.DimTools:
		err = s.Tools.setOffered(text)
	case schema.DimToolChoice:
		err = s.Tools.setChoice(text)
	case schema.DimTimeout:
		s.Timeout, err = pause(name, text)
	case schema.DimCancel:
		s.Cancel, err = share(name, text, "the requests", "10%")
	case schema.DimHit:
		s.Hit, err = share(name, text, "the prompts' tokens", "60%")
	default:
		return false, nil
	}
	return true, err
}

func pause(name, text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 || d > longestPause {
		return 0, fmt.Errorf("%s=%s is no time above zero, as in %s=2s", name, text, name)
	}
	return d, nil
}

// share reads a share between 0 and 1: "10%" or 0.1. It is what its text says, which has four decimals of a percent.
func share(name, text, of, example string) (float64, error) {
	digits, isPercent := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(digits, 64)
	if isPercent {
		v /= 100
	}
	if v = math.Round(v*1e6) / 1e6; err != nil || !(v > 0 && v < 1) {
		return 0, fmt.Errorf("%s=%s is no share of %s below 1, at least 0.0001%%, as in %[1]s=%[4]s", name, text, of, example)
	}
	return v, nil
}

func percent(share float64) string {
	return strconv.FormatFloat(math.Round(share*1e6)/1e4, 'g', -1, 64) + "%"
}

// checkClient refuses what clients cannot do.
func (s Shape) checkClient(rate float64) error {
	switch {
	case s.Turns > 1 && !s.Endpoint.Talks():
		return fmt.Errorf("turns are of a conversation: endpoint=chat,turns=%d", s.Turns)
	case s.Turns > 1 && (rate > 0 || s.Arrivals.Set()):
		return fmt.Errorf("turns follow each other in c conversations at once: endpoint=chat,turns=%d,c=8", s.Turns)
	case s.Turns > 1 && s.Cancel > 0:
		return fmt.Errorf("cancel and turns exclude each other: a conversation needs its answers")
	case s.Think > 0 && s.Turns < 2:
		return fmt.Errorf("think is the time between turns: endpoint=chat,turns=5,think=2s")
	case s.Image != (Image{}) && (s.Endpoint != Chat || s.Turns > 1):
		return fmt.Errorf("an image is part of a message of chat, without turns: endpoint=chat,image=%s", s.Image)
	case s.Image != (Image{}) && s.Prefix+int(math.Ceil(s.Hit)) > 0:
		return fmt.Errorf("an image begins its message, and each is another: prompts with image=%s share no prefix", s.Image)
	case s.Cancel > 0 && s.Endpoint.Pools():
		return fmt.Errorf("cancel is for answers of tokens, and endpoint=%s has none", s.Endpoint)
	}
	return s.Tools.check(s)
}
