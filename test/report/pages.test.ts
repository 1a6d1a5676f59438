import { rmSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { pagesOf } from '../../src/cli/reporting/pages.ts'
import { subjectTag } from '../../src/privacy/index.ts'
import type { GoldenData, InboxView, ReportData } from '../../src/report/view/types.ts'
import { built } from '../support/built.ts'
import { call, putTape, scratch, tapeText } from '../recordings/make.ts'

function dataIn<Data>(html: string | undefined): Data {
  const [, block = 'null'] = /<script type="application\/json" id="data">([\s\S]*?)<\/script>/.exec(html ?? '') ?? []
  return JSON.parse(block) as Data
}

const tag = subjectTag('erika@shop.example', 'k'.repeat(32))

function inbox() {
  built('report/shell.json')
  const dir = scratch()
  const put = (id: string, parts: Parameters<typeof putTape>[2]): string =>
    putTape(dir, `inbox/${id}`, { ...parts, header: { id, ...parts?.header } })
  const refund = put('refund-1', {
    header: { session: { id: 'S-1' }, subjects: [tag] },
    events: [call(1, 'refund', { order: 'A-8220', amount: 250 })],
  })
  put('refund-2', { header: { session: { id: 'S-1' } }, events: [call(1, 'refund', { order: 'B-1', amount: 5 })] })
  put('search-1', { header: { agent: 'search' }, close: null })
  const pages = pagesOf(dir, [], [tag])
  const asked = async (query: string): Promise<InboxView> =>
    dataIn<GoldenData>(await pages('', new URLSearchParams(query))).inbox!
  return { dir, refund, pages, asked }
}
const idsOf = ({ tapes }: InboxView): readonly string[] => tapes.map(({ id }) => id).sort()

describe('the pages of all recordings', () => {
  it.each([
    ['', ['refund-1', 'refund-2', 'search-1']],
    ['text=A-8220', ['refund-1']],
    ['call=refund(amount > 100)', ['refund-1']],
    ['call=refund()&text=b-1', ['refund-2']],
    ['subject=-', ['refund-1']],
    [`subject=${tag}`, ['refund-1']],
    ['status=truncated', ['search-1']],
    ['agent=search', ['search-1']],
    ['session=S-1', ['refund-1', 'refund-2']],
    ['tool=refund&since=2026-01-01', ['refund-1', 'refund-2']],
    ['agent=nobody', []],
  ])('narrow the inbox as `ls` does: %s', async (query, ids) => {
    const { asked } = inbox()
    const found = await asked(query)
    expect(idsOf(found)).toEqual(ids)
    expect(found).toMatchObject({ total: 3, more: 0, asked: [...new URLSearchParams(query)] })
  })

  it('say why a filter makes no sense, list nothing then, and pass over what is no filter', async () => {
    const { asked } = inbox()
    expect(await asked('status=thrown')).toMatchObject({
      tapes: [],
      problem: expect.stringContaining('Invalid --status: expected returned') as string,
    })
    expect(await asked('call=refund((')).toMatchObject({ tapes: [], problem: expect.any(String) as string })
    expect(idsOf(await asked('dir=/etc&golden=1&__proto__=x'))).toHaveLength(3)
  })

  it('name the session of a run, and of a branch its parent', async () => {
    const { asked } = inbox()
    expect((await asked('session=S-1')).tapes.map(({ session }) => session)).toEqual(['S-1', 'S-1'])
  })

  it('are made from the files as they are when they are asked for', async () => {
    const { asked, pages, refund } = inbox()
    const { report = '' } = (await asked('text=A-8220')).tapes[0]!
    const stepsNow = async (): Promise<readonly string[]> =>
      dataIn<ReportData>(await pages(report, new URLSearchParams())).run.steps.map(({ name }) => name)
    expect(await stepsNow()).toEqual(['refund'])
    const events = [call(1, 'refund', { order: 'A-8220', amount: 250 }), call(5, 'send_mail', {})]
    writeFileSync(refund, tapeText({ header: { id: 'refund-1' }, events }))
    expect(await stepsNow()).toEqual(['refund', 'send_mail'])
    rmSync(refund)
    expect(await pages(report, new URLSearchParams())).toBeUndefined()
  })

  it('have one for each tape, whatever was listed before', async () => {
    const { dir, asked } = inbox()
    const { report = '' } = (await asked('text=A-8220')).tapes[0]!
    expect(dataIn<ReportData>(await pagesOf(dir, [])(report, new URLSearchParams())).run.id).toBe('refund-1')
    expect(await pagesOf(dir, [])('run/../../etc/passwd', new URLSearchParams())).toBeUndefined()
    expect(await pagesOf(dir, [])('case/none', new URLSearchParams())).toBeUndefined()
  })
})
