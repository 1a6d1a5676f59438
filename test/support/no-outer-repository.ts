// Tests make repositories of their own. Started by a hook of git, they would write into the one around them.
for (const name of ['GIT_DIR', 'GIT_WORK_TREE', 'GIT_INDEX_FILE', 'GIT_PREFIX']) delete process.env[name]
