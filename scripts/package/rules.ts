/** Bytes of the tarball. */
export const maxTarball = 1_100_000
/** Packages that `npm install vitest-harvest` installs beside Vitest, ours not counted. */
export const maxInstalled = 20

interface Locked {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}
export interface LockFile {
  readonly packages: Readonly<Record<string, Locked>>
}

/** Where a page links, code blocks left out. */
export function linksOf(page: string): string[] {
  const prose = page.replaceAll(/^```[\s\S]*?^```$/gm, '')
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target)
}

const isRelative = (target: string): boolean => !/^(?:https?:|mailto:|#)/.test(target)

/** Links of the README that are dead on the page of the package, which knows no folder to resolve them in. */
export function relativeLinks(readme: string): string[] {
  return linksOf(readme).filter(isRelative)
}

/** The packages that come with ours, as their places in the lock; Vitest and optional peers are the user's own. */
export function installedWith({ packages }: LockFile): string[] {
  const found = new Set<string>()
  const open = ['']
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const name of dependenciesOf(packages[at] ?? {})) {
      const place = resolveIn(packages, at, name)
      if (place === undefined) throw new Error(`the lock has no ${name} for ${at === '' ? 'the package' : at}`)
      if (!found.has(place)) open.push(place)
      found.add(place)
    }
  }
  return [...found].sort()
}

function dependenciesOf({ dependencies = {}, optionalDependencies = {}, ...rest }: Locked): string[] {
  const peers = Object.keys(rest.peerDependencies ?? {}).filter(
    (name) => rest.peerDependenciesMeta?.[name]?.optional !== true,
  )
  return [...Object.keys(dependencies), ...Object.keys(optionalDependencies), ...peers]
}

/** As Node looks a package up: in the folder of the one that asks, then in those above. */
function resolveIn(packages: LockFile['packages'], from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('node_modules/') - 1))) {
    const place = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`
    if (packages[place] !== undefined) return place
    if (folder === '') return undefined
  }
}

/** What GitHub makes of the headings of a page. */
export function anchorsOf(page: string): string[] {
  return [...page.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\d\s-]/gu, '')
      .trim()
      .replaceAll(/\s/g, '-'),
  )
}
