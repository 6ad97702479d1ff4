package pdftext

import (
	"strconv"
	"strings"
	"sync"
)

// glyphs returns the characters of the glyph names of Latin, Greek and
// mathematical fonts. Each field of the list is a name followed by its
// characters.
var glyphs = sync.OnceValue(func() map[string]string {
	fields := strings.Fields(glyphList)
	out := make(map[string]string, len(fields)/2+2)
	for i := 0; i+1 < len(fields); i += 2 {
		out[fields[i]] = fields[i+1]
	}
	out["space"], out["nbspace"] = " ", " "
	return out
})

const glyphList = `
exclam ! quotedbl " numbersign # dollar $ percent % ampersand & quotesingle ' parenleft ( parenright ) asterisk *
plus + comma , hyphen - period . slash / zero 0 one 1 two 2 three 3 four 4 five 5 six 6 seven 7 eight 8 nine 9
colon : semicolon ; less < equal = greater > question ? at @ bracketleft [ backslash \ bracketright ]
asciicircum ^ underscore _ grave ` + "`" + ` braceleft { bar | braceright } asciitilde ~
quoteleft ‘ quoteright ’ quotedblleft “ quotedblright ” quotesinglbase ‚ quotedblbase „ guilsinglleft ‹ guilsinglright ›
guillemotleft « guillemotright » endash – emdash — bullet • ellipsis … dagger † daggerdbl ‡ perthousand ‰ trademark ™
Euro € cent ¢ sterling £ currency ¤ yen ¥ florin ƒ section § paragraph ¶ copyright © registered ® degree ° plusminus ±
exclamdown ¡ questiondown ¿ brokenbar ¦ ordfeminine ª ordmasculine º logicalnot ¬ macron ¯ acute ´ dieresis ¨ cedilla ¸
mu µ periodcentered · onesuperior ¹ twosuperior ² threesuperior ³ onequarter ¼ onehalf ½ threequarters ¾ multiply × divide ÷
circumflex ˆ tilde ˜ caron ˇ breve ˘ dotaccent ˙ ring ˚ ogonek ˛ hungarumlaut ˝ minus − fraction ⁄ dotlessi ı
ff ff fi fi fl fl ffi ffi ffl ffl AE Æ ae æ OE Œ oe œ Oslash Ø oslash ø Lslash Ł lslash ł germandbls ß
Eth Ð eth ð Thorn Þ thorn þ Aring Å aring å Ccedilla Ç ccedilla ç Ntilde Ñ ntilde ñ Scaron Š scaron š Zcaron Ž zcaron ž
Agrave À Aacute Á Acircumflex Â Atilde Ã Adieresis Ä agrave à aacute á acircumflex â atilde ã adieresis ä
Egrave È Eacute É Ecircumflex Ê Edieresis Ë egrave è eacute é ecircumflex ê edieresis ë
Igrave Ì Iacute Í Icircumflex Î Idieresis Ï igrave ì iacute í icircumflex î idieresis ï
Ograve Ò Oacute Ó Ocircumflex Ô Otilde Õ Odieresis Ö ograve ò oacute ó ocircumflex ô otilde õ odieresis ö
Ugrave Ù Uacute Ú Ucircumflex Û Udieresis Ü ugrave ù uacute ú ucircumflex û udieresis ü
Yacute Ý Ydieresis Ÿ yacute ý ydieresis ÿ Cacute Ć cacute ć Ccaron Č ccaron č Dcaron Ď dcaron ď Ecaron Ě ecaron ě
Eogonek Ę eogonek ę Aogonek Ą aogonek ą Nacute Ń nacute ń Ncaron Ň ncaron ň Rcaron Ř rcaron ř Sacute Ś sacute ś
Tcaron Ť tcaron ť Uring Ů uring ů Zacute Ź zacute ź Zdotaccent Ż zdotaccent ż Gbreve Ğ gbreve ğ Idotaccent İ
Scedilla Ş scedilla ş Ohungarumlaut Ő ohungarumlaut ő Uhungarumlaut Ű uhungarumlaut ű
Alpha Α Beta Β Gamma Γ Delta Δ Epsilon Ε Zeta Ζ Eta Η Theta Θ Iota Ι Kappa Κ Lambda Λ Mu Μ Nu Ν Xi Ξ Omicron Ο Pi Π
Rho Ρ Sigma Σ Tau Τ Upsilon Υ Phi Φ Chi Χ Psi Ψ Omega Ω alpha α beta β gamma γ delta δ epsilon ε epsilon1 ε zeta ζ eta η
theta θ theta1 ϑ iota ι kappa κ lambda λ nu ν xi ξ omicron ο pi π rho ρ sigma σ sigma1 ς tau τ upsilon υ phi φ phi1 ϕ
chi χ psi ψ omega ω partialdiff ∂ infinity ∞ summation ∑ product ∏ radical √ integral ∫ approxequal ≈ notequal ≠
lessequal ≤ greaterequal ≥ element ∈ universal ∀ existential ∃ emptyset ∅ intersection ∩ union ∪ propersubset ⊂
arrowleft ← arrowright → arrowup ↑ arrowdown ↓ arrowboth ↔ arrowdblright ⇒ arrowdblboth ⇔ logicaland ∧ logicalor ∨
nabla ∇ lozenge ◊ angleleft ⟨ angleright ⟩ asteriskmath ∗ dotmath ⋅ equivalence ≡ similar ∼ proportional ∝ prime ′
`

// glyph returns the characters of a glyph name, or "".
func glyph(name string) string {
	name, _, _ = strings.Cut(name, ".") // a variant: a.sc
	if s, ok := glyphs()[name]; ok {
		return s
	}
	if len(name) == 1 {
		return name
	}
	for _, prefix := range []string{"uni", "u"} {
		if digits, ok := strings.CutPrefix(name, prefix); ok && len(digits) >= 4 && len(digits) <= 6 {
			if n, err := strconv.ParseUint(digits, 16, 21); err == nil {
				return string(rune(n))
			}
		}
	}
	return ""
}
