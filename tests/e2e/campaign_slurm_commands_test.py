#!/usr/bin/env python3
"""What a campaign asks of the commands of Slurm, and does with their answers: jobs that cannot be
queued, that are held, or that a user gave a time, nodes that may be used, and calls that fail."""

import json
import re

import campaigns
import harness

ROUNDS = 5
ARRAY_MAX = 1000

SBATCH = """#!/bin/sh
echo "$*" >> {folder}/calls
if [ -e {folder}/broken ] && [ -s {folder}/jobs ]; then
  echo "no more jobs" >&2
  if grep -q once {folder}/broken; then
    rm {folder}/broken
  fi
  exit 1
fi
for word; do
  case "$word" in
    --job-name=*) name=${{word#*=}} ;;
    --array=0-*) last=${{word##*-}} ;;
    --nodelist=*) node=${{word#*=}} ;;
  esac
done
case "$name" in
  reprise-check-*)
    if [ -e {folder}/no-$node ]; then
      echo "Requested node configuration is not available" >&2
      exit 1
    fi
    sed "s/NODE/$node/" {folder}/check > {plan}/nodes/$node.json
    exit ;;
esac
echo "$name $last" >> {folder}/jobs
echo "sbatch: warning: some nodes are down" >&2
echo 7
"""
SQUEUE = """#!/bin/sh
if [ -s {folder}/failing ]; then
  sed -i 1d {folder}/failing
  echo "no controller" >&2
  exit 1
fi
case "$*" in
  *"=%j|%i"*)
    while read -r name; do
      echo "$name|9"
      node=${{name##*-}}
      sed "s/NODE/$node/" {folder}/check > {plan}/nodes/$node.json
    done < {folder}/checks
    exit ;;
esac
reason=$(cat {folder}/reason)
while read -r name last; do
  seq 0 "$last" | sed "s/.*/$name|&|PENDING|$reason|7_&/"
done < {folder}/jobs
"""
SCONTROL = """#!/bin/sh
echo "$*" >> {folder}/updates
"""
SINFO = """#!/bin/sh
cat {folder}/nodes
"""


class OnSlurm(campaigns.CampaignCase):
    """Commands of Slurm that keep a list of jobs and run none; a check has its result at once, one
    that waits in the queue when squeue names it."""

    def setUp(self):
        super().setUp()
        (self.folder / "p0.reprise").write_bytes(b"")
        self.programs = self.folder / "programs"
        self.programs.mkdir()
        for name, text in (("sinfo", SINFO), ("sbatch", SBATCH), ("squeue", SQUEUE),
                           ("scontrol", SCONTROL)):
            (self.programs / name).write_text(text.format(folder=self.programs, plan=self.plan))
            (self.programs / name).chmod(0o755)
        for name in ("jobs", "nodes", "calls", "checks", "updates"):
            (self.programs / name).touch()
        self.set_reason("Resources")
        self.environment["PATH"] = f"{self.programs}:{self.environment['PATH']}"

    def set_reason(self, reason):
        """Why all tasks wait."""
        (self.programs / "reason").write_text(reason)

    def plan_on(self, *nodes, shards=1):
        """Shards of one load, and a cluster with these lines of sinfo."""
        file = self.campaign(archives=["p0.reprise"], loads=shards, load_seconds=60,
                             shard_minutes=1)
        self.run_campaign("plan", file, "-o", self.plan)
        (self.programs / "nodes").write_text("".join(line + "\n" for line in nodes))
        (self.programs / "check").write_text(self.check_of("NODE"))

    def check_of(self, node, **members):
        return json.dumps({"schema": "reprise-node/1", "plan": self.digest(), "node": node,
                           "machine": {}, **members}) + "\n"

    def refuse(self, *nodes):
        for node in nodes:
            (self.plan / "nodes" / f"{node}.json").write_text(
                self.check_of(node, problems=["it has no browser"]))

    def submit(self, *options, **expected):
        return self.run_campaign("submit", self.plan, "--engine", "slurm",
                                 *(f"--sbatch-option={each}" for each in options), **expected)

    def words_of_jobs(self, option):
        """What sbatch takes for an option: the last one of each call, in order."""
        calls = (self.programs / "calls").read_text().splitlines()
        return [([None] + re.findall(rf"{option}=(\S+)", call))[-1] for call in calls]

    def test_a_check_that_cannot_be_queued_is_left_to_the_first_shard(self):
        self.plan_on("n1|idle|all*", "n2|idle|all*")
        (self.programs / "no-n2").touch()
        done = self.submit()
        self.assertIn(b"the check of node n2 cannot be queued", done.stderr)
        self.assertEqual(self.words_of_jobs("--nodelist"), ["n1", "n2", None])
        self.assertEqual(self.queued(), [1])

    def test_no_shard_is_queued_when_no_check_can_be(self):
        self.plan_on("n1|idle|all*")
        (self.programs / "no-n1").touch()
        done = self.submit(expect=1)
        self.assertIn(b"Requested node configuration is not available", done.stderr)
        self.assertEqual(self.queued(), [])

    def test_only_nodes_that_the_options_let_run_jobs_are_checked(self):
        self.plan_on("n1|idle|all*", "n1|idle|old", "n2|idle|old", "n3|mixed|old", "n4|down|old",
                     "n5|idle|all*", "n6|idle|old")
        (self.programs / "hosts").write_text("n7 # gone\n\nn1,n9\n")
        for options, checked in (((f"--exclude={self.programs}/hosts",), ["n5"]),
                                 (("--exclude=n5,n9",), ["n1"]),
                                 (("-p", "old", "-xn6", "--nodelist=n2,n4,n6"), ["n2"]),
                                 (("--partition=none", "--partition=old,new"), ["n3", "n6"])):
            with self.subTest(options=options):
                (self.programs / "calls").write_text("")
                (self.programs / "jobs").write_text("")
                self.submit(*options)
                calls = (self.programs / "calls").read_text().splitlines()
                checks = [line for line in calls if "reprise-check-" in line]
                self.assertEqual([re.findall(r"--nodelist=(\S+)", line)[-1] for line in checks],
                                 checked)
                self.assertEqual(self.queued(), [1])

    def test_refused_nodes_are_excluded_besides_those_of_the_user(self):
        self.plan_on("n1|idle|all*", "n2|idle|all*", "n3|idle|old")
        self.refuse("n2", "elsewhere")
        for options, excluded in (((), "n2"), (("--exclude=n3,n7",), "n3,n7,n2"),
                                  (("-x", "n3"), "n3,n2")):
            with self.subTest(options=options):
                (self.programs / "calls").write_text("")
                (self.programs / "jobs").write_text("")
                self.submit(*options)
                self.assertEqual(self.words_of_jobs("--exclude")[-1], excluded)

    def test_the_number_of_a_job_is_no_warning_of_sbatch(self):
        self.plan_on()
        self.assertIn(b"1 shard queued as job 7\n", self.submit().stderr)

    def test_a_check_that_still_waits_is_not_queued_again(self):
        self.plan_on()
        self.submit()
        name = (self.programs / "jobs").read_text().rpartition("-")[0]
        check = name.replace("reprise-", "reprise-check-", 1) + "-n1"
        (self.programs / "checks").write_text(check + "\n")
        (self.programs / "nodes").write_text("n1|idle|all*\nn2|idle|all*\n")
        (self.programs / "calls").write_text("")
        self.run_campaign("resume", self.plan, "--engine", "slurm")
        self.assertEqual(self.words_of_jobs("--nodelist"), ["n2"])
        self.assertEqual(self.words_of_jobs("--job-name"), [check[:-2] + "n2"])

    def test_only_tasks_that_the_user_gave_no_time_begin_at_once(self):
        self.plan_on("n1|idle|all*")
        self.set_reason("BeginTime")
        for options, updates in (((), ["update JobId=7_0 StartTime=now"]),
                                 (("--begin=22:00",), []), (("-b", "22:00"), [])):
            with self.subTest(options=options):
                for name in ("jobs", "calls", "updates"):
                    (self.programs / name).write_text("")
                (self.plan / "nodes" / "n1.json").unlink(missing_ok=True)
                self.submit(*options)
                checks = [line for line in (self.programs / "calls").read_text().splitlines()
                          if "reprise-check-" in line]
                self.assertEqual(len(checks), 0 if options else 1)
                self.run_campaign("resume", self.plan, "--engine", "slurm")
                self.assertEqual((self.programs / "updates").read_text().splitlines(), updates)

    def test_tasks_that_are_held_are_named_and_end_a_wait(self):
        self.plan_on()
        self.set_reason("launch failed requeued held")
        for command in ("submit", "resume"):
            done = self.run_campaign(command, self.plan, "--engine", "slurm", "--wait", expect=1)
            self.assertIn(b"1 shard of job 7 cannot start (launch failed requeued held): "
                          b"`scontrol release 7`", done.stderr)
        done = self.run_campaign("resume", self.plan, "--engine", "slurm", expect=1)
        self.assertIn(b"`scontrol release 7`", done.stderr)
        self.assertEqual(self.queued(), [1])

    def test_shards_that_cannot_start_end_with_1_though_others_are_queued(self):
        self.plan_on(shards=2)
        self.submit()
        jobs = self.programs / "jobs"
        name = jobs.read_text().split()[0]
        jobs.write_text(f"{name} 0\n")  # the task of the second shard has failed
        done = self.run_campaign("resume", self.plan, "--engine", "slurm", "--rounds", 1, expect=1)
        self.assertIn(b"1 shard failed 1 time and will not start again", done.stderr)
        self.assertEqual(self.queued(), [1])
        self.set_reason("JobHeldUser")
        done = self.run_campaign("resume", self.plan, "--engine", "slurm", expect=1)
        self.assertIn(b"1 shard of job 7 cannot start (JobHeldUser)", done.stderr)
        self.assertEqual(self.queued(), [1, 2])
        self.set_reason("Resources")
        self.run_campaign("resume", self.plan, "--engine", "slurm")

    def test_calls_that_fail_for_a_while_do_not_end_a_wait(self):
        self.plan_on()
        self.set_reason("JobHeldUser")
        (self.programs / "failing").write_text("once\ntwice\n")
        done = self.run_campaign("submit", self.plan, "--engine", "slurm", "--wait", expect=1)
        self.assertEqual(done.stderr.count(b"no controller"), 1, done.stderr)
        self.assertEqual(self.queued(), [1])
        (self.programs / "failing").write_text("once\n")
        done = self.run_campaign("resume", self.plan, "--engine", "slurm", expect=1)
        self.assertNotIn(b"Trying again", done.stderr)

    def test_jobs_of_another_folder_with_the_same_plan_are_not_its_own(self):
        self.plan_on()
        self.submit()
        first, self.plan = self.plan, self.folder / "twin"
        self.plan_on()
        self.assertEqual((first / "plan.json").read_bytes(),
                         (self.plan / "plan.json").read_bytes())
        self.submit()
        jobs = (self.programs / "jobs").read_text().splitlines(True)
        self.assertEqual(len(jobs), 2)
        (self.programs / "jobs").write_text(jobs[0])  # that of the twin has failed
        self.submit()
        self.assertEqual(len((self.programs / "jobs").read_text().splitlines()), 2)

    def queued(self):
        shards = []
        for line in (self.programs / "jobs").read_text().splitlines():
            name, last = line.split()
            number, first = name.rpartition("-")[2].split(".")
            started = (self.plan / "rounds" / f"{number}.txt").read_text().split()
            shards += started[int(first):int(first) + int(last) + 1]
        return sorted(map(int, shards))

    def test_shards_that_could_not_be_queued_keep_all_their_starts(self):
        count = ARRAY_MAX + 500
        file = self.campaign(archives=["p0.reprise"], loads=count, load_seconds=60, shard_minutes=1)
        self.run_campaign("plan", file, "-o", self.plan)
        self.assertEqual(len(self.status()["missing"]), count)
        (self.programs / "broken").touch()
        for command in ("submit", *["resume"] * ROUNDS):
            done = self.run_campaign(command, self.plan, "--engine", "slurm", expect=1)
            self.assertIn(b"no more jobs", done.stderr)
        self.assertEqual(self.queued(), list(range(1, ARRAY_MAX + 1)))
        (self.programs / "broken").unlink()
        self.run_campaign("resume", self.plan, "--engine", "slurm")
        self.assertEqual(self.queued(), list(range(1, count + 1)))

    def test_shards_that_are_refused_at_first_are_queued_later_with_wait(self):
        count = ARRAY_MAX + 500
        file = self.campaign(archives=["p0.reprise"], loads=count, load_seconds=60, shard_minutes=1)
        self.run_campaign("plan", file, "-o", self.plan)
        (self.programs / "broken").write_text("once")
        self.set_reason("JobHeldUser")
        done = self.run_campaign("submit", self.plan, "--engine", "slurm", "--wait", expect=1)
        self.assertIn(b"500 shards not queued yet", done.stderr)
        self.assertEqual(self.queued(), list(range(1, count + 1)))


if __name__ == "__main__":
    harness.main()
