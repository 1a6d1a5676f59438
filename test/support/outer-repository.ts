/** What git tells the programs that it starts, such as a hook: which repository, whose commit. */
const told =
  /^GIT_(?:DIR|WORK_TREE|INDEX_FILE|PREFIX|COMMON_DIR|(?:ALTERNATE_)?OBJECT_DIRECTOR(?:Y|IES)|QUARANTINE_PATH|NAMESPACE|SHALLOW_FILE|GRAFT_FILE|IMPLICIT_WORK_TREE|INTERNAL_SUPER_PREFIX|REPLACE_REF_BASE|NO_REPLACE_OBJECTS|(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE))$/

/**
 * Takes the repository out of an environment. Tests make repositories of their own: started by a hook of git or by
 * `git bisect run`, they would write into the one around them.
 */
export function leaveOuterRepository(environment: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(environment)) if (told.test(name)) delete environment[name]
}
