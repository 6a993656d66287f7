/** The candidate closest to `word`, if it is close enough to be what was meant. Case never counts. */
export function closest(word: string, candidates: readonly string[]): string | undefined {
  const given = word.toLowerCase()
  const bound = Math.ceil(word.length * 0.4)
  let best: { candidate: string; distance: number } | undefined
  for (const candidate of candidates) {
    const distance = editDistance(given, candidate.toLowerCase())
    if (distance <= bound && distance < (best?.distance ?? Number.POSITIVE_INFINITY)) {
      best = { candidate, distance }
    }
  }
  return best?.candidate
}

/** Levenshtein distance: insertions, deletions and substitutions, each 1. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const substituted = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, substituted))
    }
    row = next
  }
  return row[b.length]!
}
