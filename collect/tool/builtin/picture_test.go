package builtin_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"image/png"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/ttreport/ttreport/collect/tool/builtin"
	"github.com/ttreport/ttreport/collect/traffic"
)

// seeing is a server that looks at the pictures of chat: 500 tokens each, and one a word.
type seeing struct {
	t     *testing.T
	mu    sync.Mutex
	faces map[string]int // pictures by their pixels
}

func (s *seeing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Messages []struct {
			Content []struct {
				Type     string
				Text     string
				ImageURL struct{ URL string } `json:"image_url"`
			}
		}
	}
	err := json.NewDecoder(r.Body).Decode(&body)
	if err != nil || len(body.Messages) != 1 || len(body.Messages[0].Content) != 2 {
		s.t.Errorf("%v %+v", err, body)
		return
	}
	picture, text := body.Messages[0].Content[0], body.Messages[0].Content[1]
	data, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(picture.ImageURL.URL, "data:image/png;base64,"))
	if err != nil || picture.Type != "image_url" || text.Type != "text" {
		s.t.Errorf("%v %+v", err, picture.Type)
		return
	}
	img, err := png.Decode(bytes.NewReader(data)) // which verifies checksums
	if err != nil || img.Bounds().Dx() != 640 || img.Bounds().Dy() != 333 {
		s.t.Errorf("%v", err)
		return
	}
	var pixels bytes.Buffer
	for x := range 20 {
		r, g, b, _ := img.At(32*x, 100).RGBA()
		pixels.Write([]byte{byte(r >> 8), byte(g >> 8), byte(b >> 8)})
	}
	s.mu.Lock()
	s.faces[pixels.String()]++
	s.mu.Unlock()
	tokens := 500 + len(strings.Fields(text.Text))
	usage := map[string]any{"prompt_tokens": tokens, "completion_tokens": 2}
	last, _ := json.Marshal(map[string]any{"choices": []any{}, "usage": usage}) // always possible
	piece := `data: {"choices":[{"delta":{"content":"x"}}]}` + "\n\n"
	flushed(w, piece, piece, "data: "+string(last)+"\n\n", end)
}

// Each request of a chat has a picture of its own, of the size that was asked for, and prompts fit with it.
func TestPictures(t *testing.T) {
	s := &seeing{t: t, faces: map[string]int{}}
	srv := httptest.NewServer(s)
	defer srv.Close()
	out, err := builtin.Run(context.Background(), builtin.Load{
		Workload: traffic.Workload{ISL: 900, OSL: 2, Concurrency: 4, Requests: 40, Endpoint: traffic.Chat,
			Image: traffic.Image{Width: 640, Height: 333}},
		URL: srv.URL, Model: "m", Fit: true,
	})
	if err != nil || out.Set().OK != 40 {
		t.Fatalf("%v %d %q", err, out.Set().OK, out.Requests[0].Error)
	}
	for _, q := range out.Requests {
		if q.In != 900 {
			t.Errorf("%d tokens where 900 were asked", q.In)
		}
	}
	srv.Close() // waits for the handlers, so that nothing writes any more
	for _, n := range s.faces {
		if n > 1 {
			t.Errorf("one picture was sent %d times", n)
		}
	}
}

func TestImageSizes(t *testing.T) {
	for _, text := range []string{"1024x768", "1x1"} {
		if i, err := traffic.ParseImage(text); err != nil || i.String() != text {
			t.Errorf("%s: %v, %v", text, i, err)
		}
	}
	for _, text := range []string{"", "x", "1024", "0x5", "-1x4", "1024x768x3", "axb"} {
		if _, err := traffic.ParseImage(text); err == nil || !strings.Contains(err.Error(), "size in pixels") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
