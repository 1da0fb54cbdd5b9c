/* supervisor/launcher/remove_tree.h -- removes what a hostile program left on disk: any depth, any
 * number, any modes, links never followed. Run it as the files' owner, when nothing of that owner
 * runs any more. */
#ifndef LAUNCHER_REMOVE_TREE_H
#define LAUNCHER_REMOVE_TREE_H

/* Empties the directory behind top (which stays): 0, or -1 with errno of what could not be removed.
 * Two descriptors, constant memory: a subdirectory is moved up to top before it is emptied. */
int remove_tree(int top);

#endif
