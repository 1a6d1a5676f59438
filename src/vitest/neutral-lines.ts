import { neutral } from '../errors/index.ts'

/**
 * Text of several lines made safe for reports: {@link neutral} line by line, without a mark for the lines that follow,
 * and nothing at the start of a line that a reader of TAP takes for a result. A second pass changes nothing.
 */
export function neutralLines(text: string): string {
  return text
    .split(/\r\n|\r|\n/)
    .map((line) => neutral(line).replace(tapLine, '| $&'))
    .join('\n')
}

const tapLine = /^(?:(?:not )?ok\b|bail out!|\d+\.\.\d|tap version|\.\.\.|---)/i
