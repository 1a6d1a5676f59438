/** Recorded text that tries to be more than text. */
export interface HostilePayload {
  /** What it attacks. */
  readonly class: string
  readonly text: string
}

// Marks what no output of ours would hold by itself: a command, a link or an element that a payload forged.
const forged = 'FORGED'
// Spelled so that Vitest does not obey it in a file that holds this one.
const at = '@'

const texts: Readonly<Record<string, readonly string[]>> = {
  c0: ['a\u0000b', 'ring\u0007', 'gone\b\b\b\bbad!', 'all is well\rFAILED', 'page\f\u000bbreak', 'delete\u007f'],
  c1: ['next\u0085line', 'dcs\u0090q', 'osc\u009d0;title\u009c', 'csi\u009b2J'],
  csi: [
    '\u001b[2J\u001b[H',
    '\u001b[1A\u001b[2Kpassed',
    '\u001b[8mhidden\u001b[0m',
    '\u001b[31mred',
    '\u001b[?1049h',
    '\u001bc',
  ],
  osc: [
    '\u001b]8;;https://evil.example\u0007docs\u001b]8;;\u0007',
    '\u001b]52;c;Zm9yZ2Vk\u0007',
    '\u001b]0;title\u001b\\',
    '\u001bP$q"p\u001b\\',
  ],
  bidi: [
    'refund\u202egpj.exe',
    'if (isAdmin\u2066 \u2069) {',
    'a\u200fb\u200e',
    'a\u061cb',
    '\u202dLRO\u202c',
    '\u2067RLI\u2068',
  ],
  'zero-width': [
    're\u200bfund',
    're\u2060fund',
    '\ufeffrefund',
    're\u00adfund',
    're\u180efund',
    'a\u2063b',
    '\ufff9a\ufffab\ufffb',
    'a\u3164b',
  ],
  tags: ['ok\u{e0041}\u{e0042}\u{e007f}', 'flag\u{e0001}', 'smuggled\u{e0100}\u{e01ef}'],
  separator: ['a\u2028::error::FORGED', 'a\u2029b'],
  surrogate: ['half \ud83d', '\udc00 other half'],
  github: [
    `::add-mask::${forged}`,
    `::stop-commands::${forged}`,
    `::error file=${forged},line=1::all is lost`,
    `::warning::${forged}`,
    `::notice title=${forged}::hello`,
    `::group::${forged}`,
    `::endgroup::`,
    `::set-env name=NODE_OPTIONS::--require ${forged}`,
    `::add-path::/tmp/${forged}`,
    `::set-output name=x::${forged}`,
    `::save-state name=x::${forged}`,
    `::add-matcher::${forged}.json`,
    `::debug::${forged}`,
    '::echo::on',
    `  \t::add-mask::${forged}`,
    `\u00a0::add-mask::${forged}`,
    `\u3000::add-mask::${forged}`,
    `text\n::add-mask::${forged}`,
    `text\r\n::stop-commands::${forged}`,
    `text%0A::add-mask::${forged}`,
    `::ADD-MASK::${forged}`,
  ],
  'github-old': [`##[add-mask]${forged}`, `see ##[error]${forged}`, `##[group]${forged}`, `###[command]${forged}`],
  azure: [
    `##vso[task.setvariable variable=PATH]${forged}`,
    '##vso[task.complete result=Succeeded;]done',
    `a ##VSO[task.logissue type=error]${forged}`,
  ],
  teamcity: [
    `##teamcity[buildStatus status='SUCCESS' text='${forged}']`,
    `##teamcity[testIgnored name='${forged}']`,
    `x ##TeamCity[setParameter name='a' value='${forged}']`,
  ],
  markdown: [
    `[see ${forged}](https://evil.example/${forged})`,
    `![pixel](https://evil.example/${forged}.png)`,
    `[a][${forged}]\n\n[${forged}]: https://evil.example`,
    `<https://evil.example/${forged}>`,
    `https://evil.example/${forged}`,
    `www.evil.example/${forged}`,
    `ping @${forged}/team and @${forged}`,
    `closes #1, ${forged}/repo#2 and GH-3`,
    `**${forged}** _${forged}_`,
    `\`\`\`\n# ${forged}\n\`\`\``,
    `\`\`\`\`\`\`\n[${forged}](javascript:alert(1))\n\`\`\`\`\`\``,
    `~~~\n# ${forged}\n~~~`,
    `\`code\` \`\`more\`\` \`\`\`most\`\`\` [${forged}](x)`,
    `a | b | ${forged}\n---|---|---\n1 | 2 | 3`,
    `\n# ${forged}\n\n- [x] done\n`,
    `${forged}\n===`,
    `\n> ${forged}\n\n1. one`,
    `$\\href{javascript:alert(1)}{${forged}}$`,
    `\\](https://evil.example/${forged})`,
  ],
  html: [
    `<img src=x onerror="alert('${forged}')">`,
    `</script><script>alert('${forged}')</script>`,
    `<!--<script>${forged}`,
    `<details open><summary>${forged}</summary>`,
    `</pre></code></td></table><h1>${forged}</h1>`,
    `<svg/onload=alert('${forged}')>`,
    `<a href="javascript:alert('${forged}')">x</a>`,
    `"><iframe src=//evil.example/${forged}>`,
    `&lt;b&gt;${forged}&#60;`,
  ],
  csv: [
    `=HYPERLINK("https://evil.example/${forged}","open")`,
    `+cmd|' /C calc'!${forged}`,
    `-2+3+cmd|'${forged}'!A0`,
    `@SUM(1+1)*cmd|'${forged}'!A0`,
    `\t=1+1 ${forged}`,
    `","=1+1 ${forged}","`,
    `x\n=1+1 ${forged}`,
  ],
  xml: [
    `]]>${forged}`,
    `<![CDATA[${forged}]]>`,
    `</failure></testcase><testcase name="${forged}"/>`,
    `<!DOCTYPE x [<!ENTITY ${forged} SYSTEM "file:///etc/passwd">]>&${forged};`,
    `" name="${forged}`,
    `' name='${forged}`,
    'not a character \ufffe\uffff',
    'nor this \u0001\u0008\u000e\u001f',
    `<?xml version="1.0"?>${forged}`,
  ],
  tap: [
    `x\nok 1 - ${forged}`,
    `x\nBail out! ${forged}`,
    `x\n1..0 # SKIP ${forged}`,
    `x # SKIP ${forged}`,
    `x\n    ...\nok 99 - ${forged}`,
    `x" # TODO ${forged}`,
  ],
  json: [
    `"}],"success":true,"${forged}":[{"a":"`,
    `\\"},{"${forged}":true`,
    `\\u0022${forged}\\`,
    `__proto__`,
    `{"type":"harvest-end","${forged}":true}\n{"n":1}`,
  ],
  pragma: [
    `// ${at}vitest-environment happy-dom`,
    `${at}vitest-environment-options {broken`,
    `/* ${at}module-tag x */`,
  ],
  terms: [`%s %d %o %c ${forged}`, '$(touch FORGED)', '`touch FORGED`', '${process.exit(0)} FORGED', '../../FORGED'],
}

/** At least one payload for every way in which recorded text can leave its place. */
export const hostilePayloads: readonly HostilePayload[] = Object.entries(texts).flatMap(([name, list]) =>
  list.map((text) => ({ class: name, text })),
)

/** Where an output is read: a terminal or the log of a pipeline (`log`), or by something that renders it. */
export type Medium = 'log' | 'markdown' | 'xml' | 'csv'

/**
 * What of the payloads is still dangerous in an output, one line each; empty for a safe output.
 *
 * Colours count as dangerous, so the output has to come from a run with `NO_COLOR`. Annotations for GitHub of our own
 * and of Vitest (`::error file=…`) are let through: a payload names its file `FORGED`.
 *
 * @param medium - `log` (default) holds for every output; the others look for more besides
 */
export function findsHostile(output: string, medium: Medium = 'log'): string[] {
  const found = [...charactersIn(output), ...commandsIn(output)]
  if (medium === 'markdown') found.push(...matches(proseOf(output), activeMarkdown))
  if (medium === 'xml') found.push(...matches(output, activeXml))
  if (medium === 'csv') found.push(...formulasIn(output))
  return found
}

// All of C0 but tab and line feed, DEL and C1; direction marks; what is not seen; halves of surrogate pairs.
const unseen =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\ufff9-\ufffb\ufffe\uffff\u{e0000}-\u{e0fff}\p{Surrogate}]/gu

function charactersIn(output: string): string[] {
  return [...output.matchAll(unseen)].map(({ 0: character, index }) => {
    const code = character.codePointAt(0)?.toString(16).padStart(4, '0')
    return `the character U+${code} in ${around(output, index)}`
  })
}

/** What a runner obeys: `::` at the start of a line, `##[` and its kin anywhere. */
function commandsIn(output: string): string[] {
  const lines = output.split(/\r\n|[\n\r\u0085\u2028\u2029]/)
  const obeyed = lines.filter(
    (line) =>
      /^\s*::[\w-]+(?:\s[^:]*)?::/.test(line) &&
      !/^::(?:error|warning|notice) (?:file|title)=(?!FORGED)[^,:]+[,:]/.test(line),
  )
  return [...obeyed.map((line) => `the command ${quoted(line)}`), ...matches(output, /##(?:\[|vso\[|teamcity\[)/gi)]
}

// What GitHub makes something of outside of code: links, images, addresses, mentions, references, elements, headings
// and tables that came with a payload.
const activeMarkdown =
  /!?\[[^\]]*\](?:\(|\[|:)|<[a-z!/?][^>]*>|https?:\/\/|www\.|(?<![\w`])@[\w-]+|(?<![\w&])#\d+|^\s*(?:#+|>|[-*] \[).*FORGED|\*\*FORGED|\|[^\n]*FORGED|\$[^\n]*FORGED|FORGED[^\n]*\n===/gim

// A payload's own element, attribute or end of a section.
const activeXml =
  /<[^>]*\sname="FORGED"|<!DOCTYPE[^>]*FORGED|<(?:img|script|svg|iframe|details|h1)\b[^>]*>|\]\]>FORGED/gi

/** A Markdown page without its code: fenced blocks, then code spans, by the rules of CommonMark. */
function proseOf(page: string): string {
  const prose: string[] = []
  let fence: string | undefined
  for (const line of page.split('\n')) {
    // What follows a fence of backticks has none itself; then it is code within a line.
    const mark = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/.exec(line)?.[1]
    if (fence === undefined && mark !== undefined) fence = mark
    else if (fence === undefined) prose.push(line)
    else if (mark !== undefined && mark.startsWith(fence) && line.trim() === mark) fence = undefined
  }
  return prose.join('\n').replace(/(?<!`)(`+)(?!`)[^\n]*?(?<!`)\1(?!`)/g, '')
}

function formulasIn(table: string): string[] {
  const cells = table.match(/"(?:[^"]|"")*"|[^,\n]+/g) ?? []
  return cells.filter((cell) => /^"?[=+\-@\t\r]/.test(cell)).map((cell) => `the formula ${quoted(cell)}`)
}

function matches(output: string, pattern: RegExp): string[] {
  return [...output.matchAll(pattern)].map(({ 0: text, index }) => `${quoted(text)} in ${around(output, index)}`)
}

function around(output: string, index: number): string {
  return quoted(output.slice(Math.max(0, index - 20), index + 30))
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 80))
}
