package site

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"html/template"
	"image"
	_ "image/jpeg" // decoders of logos
	_ "image/png"
	"io/fs"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/static"
)

// Theme is what an owner changes of the site's appearance: a logo and colours. The zero Theme changes nothing.
type Theme struct {
	css  []byte
	logo []byte
	file string // name of the logo among the assets
	mime string
	w, h int // of the logo as shown, CSS pixels
}

// logoHeight is how high a logo stands in the masthead, in CSS pixels.
const logoHeight = 22

// NewTheme checks a logo (SVG, PNG or JPEG, named for its ending; nil for none) and colour tokens: names of site.css
// without the dashes, each "#rrggbb", or two of them for light and dark. A colour of text that is too faint to read
// on its paper (contrast under 4.5, WCAG 2.2 criterion 1.4.3) is an error: accessibility is not an option of the
// owner's.
func NewTheme(logo []byte, name string, tokens map[string]string) (Theme, error) {
	var t Theme
	if len(logo) > 0 {
		if err := t.take(logo, name); err != nil {
			return Theme{}, err
		}
	}
	if len(tokens) == 0 {
		return t, nil
	}
	css, err := fs.ReadFile(static.Files(), "site.css")
	if err != nil {
		return Theme{}, fmt.Errorf("style: %w", err)
	}
	own := map[string][2]string{} // light and dark
	for _, m := range tokenRE.FindAllStringSubmatch(string(css), -1) {
		own[m[1]] = [2]string{m[2], m[3]}
	}
	names := slices.Sorted(maps.Keys(tokens))
	var plain, both strings.Builder
	for _, n := range names {
		if _, ok := own[n]; !ok {
			return Theme{}, fmt.Errorf("token %q is none; tokens are %s", n, strings.Join(slices.Sorted(maps.Keys(own)), ", "))
		}
		pair, err := colours(tokens[n])
		if err != nil {
			return Theme{}, fmt.Errorf("token %s: %w", n, err)
		}
		own[n] = pair
		fmt.Fprintf(&plain, " --%s: %s;", n, pair[0])
		fmt.Fprintf(&both, " --%s: light-dark(%s, %s);", n, pair[0], pair[1])
	}
	if err := readable(own, names); err != nil {
		return Theme{}, err
	}
	t.css = fmt.Appendf(nil, ":root {%s }\n@supports (color: light-dark(#000, #fff)) { :root {%s } }\n", plain.String(),
		both.String())
	return t, nil
}

// take measures a logo.
func (t *Theme) take(logo []byte, name string) error {
	const most = 100_000
	if len(logo) > most {
		return fmt.Errorf("logo %s has %d kB; a page carries at most %d", name, len(logo)/1000, most/1000)
	}
	w, h := 0., 0.
	switch ext := strings.ToLower(path.Ext(name)); ext {
	case ".svg":
		t.mime, t.file = "image/svg+xml", "logo.svg"
		var err error
		if w, h, err = drawing(logo); err != nil {
			return fmt.Errorf("logo %s: %w", name, err)
		}
	case ".png", ".jpg", ".jpeg":
		c, kind, err := image.DecodeConfig(bytes.NewReader(logo))
		if err != nil {
			return fmt.Errorf("logo %s: %w", name, err)
		}
		t.mime, t.file, w, h = "image/"+kind, "logo"+ext, float64(c.Width), float64(c.Height)
	default:
		return fmt.Errorf("logo %s is neither .svg, .png nor .jpg", name)
	}
	t.logo, t.h, t.w = logo, logoHeight, max(1, int(math.Round(logoHeight*w/h)))
	if t.w > 20*logoHeight {
		return fmt.Errorf("logo %s is %.0f times as wide as it is high, which leaves no room for the site's name", name, w/h)
	}
	return nil
}

// drawing is the size of an SVG that holds nothing but a picture: opened by itself, script in it would run with the
// site's rights.
func drawing(logo []byte) (w, h float64, err error) {
	d := xml.NewDecoder(bytes.NewReader(logo))
	root := true
	for {
		token, err := d.Token()
		if err != nil {
			if root {
				return 0, 0, fmt.Errorf("not an SVG: %w", err)
			}
			return w, h, nil
		}
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		if err := harmless(e, root); err != nil {
			return 0, 0, err
		}
		if root {
			for _, a := range e.Attr {
				box := strings.Fields(strings.ReplaceAll(a.Value, ",", " "))
				if strings.EqualFold(a.Name.Local, "viewBox") && len(box) == 4 {
					w, _ = strconv.ParseFloat(box[2], 64)
					h, _ = strconv.ParseFloat(box[3], 64)
				}
			}
			if !(w > 0 && h > 0) {
				return 0, 0, errors.New("no viewBox says how wide it is")
			}
		}
		root = false
	}
}

// harmless refuses an element that is more than a part of a picture.
func harmless(e xml.StartElement, root bool) error {
	if n := strings.ToLower(e.Name.Local); n == "script" || n == "foreignobject" || root && n != "svg" {
		return fmt.Errorf("element %s has no place in a logo", e.Name.Local)
	}
	for _, a := range e.Attr {
		n := strings.ToLower(a.Name.Local)
		if strings.HasPrefix(n, "on") || n == "href" && !strings.HasPrefix(strings.TrimSpace(a.Value), "#") {
			return fmt.Errorf("attribute %s has no place in a logo", a.Name.Local)
		}
	}
	return nil
}

var hex6 = lazyregexp.New(`^#[0-9a-fA-F]{6}$`)

// colours reads "#rrggbb" or "#rrggbb #rrggbb".
func colours(s string) ([2]string, error) {
	list := strings.Fields(s)
	if len(list) == 1 {
		list = append(list, list[0])
	}
	if len(list) != 2 || !hex6.MatchString(list[0]) || !hex6.MatchString(list[1]) {
		return [2]string{}, fmt.Errorf("%q is neither #rrggbb nor two of them, for light and dark", s)
	}
	return [2]string{strings.ToLower(list[0]), strings.ToLower(list[1])}, nil
}

var tokenRE = lazyregexp.New(`--([a-z0-9-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)`)

// readable holds the colours of text against the paper, where the owner chose one of the two.
func readable(own map[string][2]string, chosen []string) error {
	for _, text := range []string{
		"ink", "ink2", "ink3", "bad", "good", "care", "none", "c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8",
	} {
		if !slices.Contains(chosen, text) && !slices.Contains(chosen, "paper") {
			continue
		}
		for i, theme := range []string{"light", "dark"} {
			const least = 4.5
			a, b := own[text][i], own["paper"][i]
			x, y := luminance(a), luminance(b)
			if c := (math.Max(x, y) + .05) / (math.Min(x, y) + .05); c < least { // the ratio of WCAG 2.2, 1 to 21
				return fmt.Errorf("token %s: %s on %s has a contrast of %.1f in the %s theme; text needs %.1f", text, a, b, c,
					theme, least)
			}
		}
	}
	return nil
}

// luminance is relative luminance (WCAG 2.2) of "#rrggbb".
func luminance(c string) float64 {
	n, _ := strconv.ParseUint(c[1:], 16, 32) // six hex digits by the pattern above
	sum := 0.
	for i, weight := range []float64{.2126, .7152, .0722} {
		v := float64(n>>(16-8*i)&255) / 255
		if v <= .04045 {
			v /= 12.92
		} else {
			v = math.Pow((v+.055)/1.055, 2.4)
		}
		sum += weight * v
	}
	return sum
}

// logoView is a logo as layout.html shows it; its text is the name beside it.
type logoView struct {
	Src           template.URL // ours: an asset, or the picture itself
	Width, Height int
}
